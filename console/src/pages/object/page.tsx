export function ObjectPage() {
  return <p>soon</p>;
}
