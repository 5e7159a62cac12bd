export function InventoryPage() {
  return <p>soon</p>;
}
