"""Hetzner's own Python library against the world: argv is the endpoint and the token."""

import sys

from hcloud import APIException, Client
from hcloud.firewalls.domain import FirewallResource, FirewallRule
from hcloud.images.domain import Image
from hcloud.load_balancer_types.domain import LoadBalancerType
from hcloud.load_balancers.domain import LoadBalancerAlgorithm, LoadBalancerTarget
from hcloud.locations.domain import Location
from hcloud.networks.domain import NetworkSubnet
from hcloud.server_types.domain import ServerType

client = Client(token=sys.argv[2], api_endpoint=sys.argv[1], poll_interval=0.05)

key = client.ssh_keys.create(
    name="me",
    public_key="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3tqf0qF6MAt7ZbfW5NmBBBcQaG7DMRaGqHDjk3DKPV walk",
)
network = client.networks.create(
    name="inner",
    ip_range="10.0.0.0/16",
    subnets=[NetworkSubnet(ip_range="10.0.1.0/24", network_zone="eu-central", type="cloud")],
)
made = client.servers.create(
    name="web-1",
    server_type=ServerType(name="cx23"),
    image=Image(name="debian-13"),
    location=Location(name="nbg1"),
    ssh_keys=[key],
    networks=[network],
    labels={"role": "web"},
)
made.action.wait_until_finished()
for action in made.next_actions:
    action.wait_until_finished()
server = client.servers.get_by_name("web-1")
assert server.status == "running", server.status
assert server.private_net[0].ip == "10.0.1.2", server.private_net[0].ip
assert server.public_net.ipv4.ip.startswith("198.18."), server.public_net.ipv4.ip

firewall = client.firewalls.create(
    name="wall",
    rules=[FirewallRule(direction="in", protocol="tcp", port="22", source_ips=["0.0.0.0/0"])],
    resources=[FirewallResource(type="server", server=server)],
)
for action in firewall.actions:
    action.wait_until_finished()
server.reload()
assert [bound.firewall.id for bound in server.public_net.firewalls] == [firewall.firewall.id]

volume = client.volumes.create(size=10, name="disk", server=server)
volume.action.wait_until_finished()
for action in volume.next_actions:
    action.wait_until_finished()
server.reload()
assert [bound.id for bound in server.volumes] == [volume.volume.id]

floating = client.floating_ips.create(type="ipv4", name="float", home_location=Location(name="nbg1")).floating_ip
client.floating_ips.assign(floating, server).wait_until_finished()

balancer = client.load_balancers.create(
    name="front",
    load_balancer_type=LoadBalancerType(name="lb11"),
    location=Location(name="nbg1"),
    algorithm=LoadBalancerAlgorithm(type="round_robin"),
    targets=[LoadBalancerTarget(type="server", server=server, use_private_ip=False)],
).load_balancer
assert [target.server.id for target in balancer.targets] == [server.id]

server.update(name="web-2", labels={})
server.power_off().wait_until_finished()
server.reload()
assert (server.name, server.status) == ("web-2", "off")
assert [one.id for one in client.servers.get_all(label_selector="role=web")] == []
assert len(client.images.get_all()) > 5
assert client.server_types.get_by_name("cx23").cores == 2

try:
    client.servers.create(name="web-2", server_type=ServerType(name="cx23"), image=Image(name="debian-13"))
    raise AssertionError("a name was given twice")
except APIException as refusal:
    assert refusal.code == "uniqueness_error", refusal.code

client.load_balancers.delete(balancer)
client.floating_ips.unassign(floating).wait_until_finished()
client.floating_ips.delete(floating)
client.volumes.detach(volume.volume).wait_until_finished()
client.volumes.delete(volume.volume)
client.servers.delete(server).wait_until_finished()
client.firewalls.delete(firewall.firewall)
client.networks.delete(network)
client.ssh_keys.delete(key)
assert client.servers.get_all() == []
print("done")
