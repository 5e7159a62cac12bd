import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ApiProblem } from "../api/client.ts";
import { keys } from "../api/queries.ts";
import { proveFirst } from "../shell/step-up.tsx";

/**
 * Something a person does. Where the API asks for a fresh proof of who they are, it is asked for and the act is repeated; what was
 * read of the organization is read again afterwards.
 */
export function useAction<Input = void, Answer = unknown>(
  organization: string | undefined,
  act: (input: Input) => Promise<Answer>,
  done?: (answer: Answer, input: Input) => void,
) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (input: Input) => {
      try {
        return await act(input);
      } catch (thrown) {
        if (!(thrown instanceof ApiProblem) || thrown.code !== "STEP_UP_REQUIRED") throw thrown;
        await proveFirst();
        return await act(input);
      }
    },
    onSuccess: (answer, input) => done?.(answer, input),
    onSettled: async () => {
      await client.invalidateQueries(organization === undefined ? {} : { queryKey: keys.organization(organization) });
    },
  });
}
