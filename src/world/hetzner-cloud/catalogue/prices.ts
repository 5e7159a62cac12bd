export interface Price {
  readonly net: string;
  readonly gross: string;
}

export const vatRate = "19.000000";
export const currency = "EUR";

/** An amount of euros as the API writes it, with the tax on top. */
export function price(net: number): Price {
  // Sixteen places, of which a float is good for ten.
  return { net: net.toFixed(10), gross: `${(net * 1.19).toFixed(10)}000000` };
}

export interface TimePrice {
  readonly location: string;
  readonly price_hourly: Price;
  readonly price_monthly: Price;
  readonly included_traffic: number;
  readonly price_per_tb_traffic: Price;
}

const terabyte = 1_099_511_627_776;
const europe = new Set(["fsn1", "nbg1", "hel1"]);

/** A month is billed as 624 hours at most; away from Europe things cost more and bring less traffic. */
export function timePrice(location: string, monthlyNet: number, includedTerabytes: number): TimePrice {
  const isEurope = europe.has(location);
  const monthly = isEurope ? monthlyNet : monthlyNet * 1.15;
  return {
    location,
    price_hourly: price(monthly / 624),
    price_monthly: price(monthly),
    included_traffic: (isEurope ? includedTerabytes : 1) * terabyte,
    price_per_tb_traffic: price(location === "sin" ? 7.4 : 1),
  };
}
