import { QueryClient } from "@tanstack/react-query";
import { ApiProblem } from "./client.ts";

/** Answers are kept until the stream of changes says that they are old; a minute is for when the stream is away. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 60_000,
      refetchOnWindowFocus: true,
      retry: (count, error) =>
        count < 2 && (!(error instanceof ApiProblem) || error.problem.status === 0 || error.problem.status >= 500),
    },
  },
});
