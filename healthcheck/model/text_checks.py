"""What each check asks, and why: one sentence a check id."""

CHECK_TEXTS: dict[str, str] = {
    "check.gpu.count": "are as many GPUs listed as the platform promises; one that fell off the bus takes the whole "
    "node out of a job",
    "check.gpu.stayed": "is every GPU that was listed before the benchmarks still listed after them; one that fell off "
    "the bus meanwhile fails the next job",
    "check.gpu.model": "are they the GPUs the platform describes; the limits of another machine would judge this one "
    "wrongly",
    "check.hca.count": "are all compute ports there and active; one missing rail slows every collective of the whole "
    "job",
    "check.hca.rate": "is each compute port at its promised rate; a link that trained at half rate shows no error "
    "anywhere and halves the job",
    "check.node.busy": "does anybody else use the GPUs; a benchmark would disturb their job and read low",
    "check.node.leftovers": "is another healthcheck run at work here, or did one of the same user leave processes; two "
    "runs would measure each other",
    "check.nccl_tests.binary": "is the program there, executable, for this processor, with its libraries, built for "
    "MPI; a build without MPI measures every GPU alone and looks healthy",
    "check.mpi.launcher": "which mpirun does a non-interactive login find; Open MPI 4, 5 and hydra need different "
    "command lines",
    "check.hostfile.slots": "does the hostfile give a node as many slots as the machine type has GPUs; with fewer a "
    "part of the node goes unmeasured, with more ranks share a GPU",
    "check.host.distinct": "do two names of the hostfile lead to one machine; it would be measured twice at once, "
    "against itself, and counted as two",
    "check.host.same_boot": "did the node boot while it was measured; what was measured before that says nothing of it "
    "now, and a machine that crashed and came back looks well",
    "check.host.reached": "could a connection be made, a login and a command; a host that was not reached was not "
    "measured",
    "check.platform.detect": "which machine type is it; without expectation there is no verdict",
    "check.job.integrity": "is the measurement whole, correct and consistent; a fast wrong result, or a table "
    "without its end, is worth nothing",
    "check.bandwidth.busbw": "is the slower placement fast enough in bus bandwidth: in percent of peak, against "
    "healthy machines of its kind, its peers and its own past, and over which ways; it can be compared with the speed "
    "of a link",
    "check.bandwidth.algbw": "how many percent of peak does the slower placement reach in algorithm bandwidth; that "
    "is what an application sees",
    "check.localise.node": "who slows a job between nodes: slow in pairs with several partners that are well "
    "elsewhere; one such node makes all others wait",
    "check.localise.gpu": "which GPU of a node that is slow alone is slow with its neighbours; a ring runs at its pace",
    "check.localise.rail": "which rail of a confirmed node is slow by itself; that says where to look for the part",
    "check.localise.link": "is what lies between two nodes slow, while both are well with others; no node has to leave "
    "for it",
    "check.localise.path": "is what lies between two leaves slow, over many different nodes; no node has to "
    "leave for it",
    "check.localise.search": "are the others, without those that were named, as fast together as expected; only that "
    "proves them",
    "check.gate.single_node": "does a pass of an earlier run still hold; only with the same boot, GPUs, driver, "
    "NCCL, firmware, playbook and machine type, where as much was measured, and never where the fresh look is not PASS",
    "check.run.raw": "is what a stored run is judged by still there; what was deleted or cut since then proves nothing",
    "check.stage.run": "could a stage be run at all; one that was planned and skipped silently would look like health",
    "check.hca.subnet": "does a subnet manager serve each InfiniBand compute port; without an address the link is up "
    "and carries nothing",
    "check.hca.verbs": "can programs open the uverbs file of every compute card; without it NCCL takes TCP and says "
    "nothing",
    "check.hca.mtu": "do the compute ports use packets of full size and agree on it; small ones cost bandwidth, and "
    "between two ends that differ large messages are lost",
    "check.hca.errors": "did error counters of a compute port grow while the benchmarks ran; a cable makes errors "
    "before it fails, and every damaged packet is sent again",
    "check.hca.traffic": "did each compute port carry its share of a job between nodes, and drop nothing; a silent "
    "or congested rail slows all others",
    "check.kernel.log": "did the kernel log Xid, NVSwitch, link, PCIe or memory errors; it is the first to know, and "
    "no benchmark says why a GPU or a link stopped",
    "check.node.clock": "is the clock of the node right; without that, lines of two logs cannot be put in order",
    "check.os.memlock": "may a process started over ssh lock enough memory; RDMA registers its buffers, or fails",
    "check.os.shm": "is enough shared memory free; NCCL keeps buffers there, and without it ranks end with a bus error",
    "check.os.files": "may a process open enough files; every connection between ranks takes some",
    "check.cpu.governor": "do the processors run at full speed; a slow one delays every small message and every copy "
    "through host memory",
    "check.software.versions": "can the versions of libnccl, CUDA, OFED and the kernel be read; a node with another "
    "one than the others is found by comparing them",
    "check.nccl.settings": "does a login bring NCCL settings along that slow jobs down; they apply to every job and "
    "show on no command line",
    "check.nccl.transport": "did NCCL take the network of the GPUs, and only between nodes; over TCP a job runs at a "
    "tenth of the speed without any error",
    "check.nccl.gdr": "does the network reach GPU memory by itself, as NCCL says; else every byte goes through host "
    "memory",
    "check.nccl.nics": "does NCCL use as many network ports as the machine type has; one that is filtered out carries "
    "nothing and shows no error",
    "check.nccl.p2p": "do the GPUs of a node reach each other over NVLink, as NCCL says; through host memory they are "
    "ten times slower",
    "check.nccl.nvls": "can the switches add up by themselves, on machines that have it; without it a node loses about "
    "a quarter of its bandwidth",
    "check.node.allocation": "has Slurm given the node to another job; it may not have begun to use the GPUs yet",
    "check.nccl.warning": "what did NCCL complain of first, over all ranks of a job that was not well; the first "
    "line names the part, the others only follow",
    "check.fleet.drift": "are versions and settings the same on all nodes; the one node that differs takes other "
    "paths than its peers, or refuses them",
    "check.fleet.pin": "does every node have the versions that the playbook or the platform pins; an update that "
    "missed a node shows here first",
    "check.gpu.topology": "is every GPU joined to every other one by all NVLinks, where the board joins them all; "
    "one that is not slows every ring of the node",
    "check.rail.map": "has each GPU a NIC below its own PCIe switch, where other GPUs of the node have one; a rail "
    "that goes through the processor runs at about two thirds",
    "check.hca.pcie": "has the PCIe link of each compute NIC all lanes, at full speed, and a slot fast enough for "
    "its port; half the lanes halve the rail, and the port shows no error",
    "check.gdr.support": "can the NICs reach GPU memory, by nvidia_peermem or DMA-BUF; without it everything between "
    "nodes is copied through main memory",
    "check.pcie.acs": "do PCIe switches above GPUs and NICs send their traffic through the processor (ACS); that is "
    "slow, and on some machines hangs or corrupts data",
    "check.pcie.iommu": "does the IOMMU translate addresses on bare metal; transfers between GPU and NIC then go "
    "through the processor and its tables",
    "check.gpu.mode": "are MIG, compute mode and persistence mode as a job needs them; inside MIG NCCL has neither "
    "peer-to-peer nor NVLink",
    "check.gpu.ecc": "has ECC met errors it could not correct, and is it on; such an error ends the job that meets it",
    "check.gpu.ecc_errors": "did memory errors appear while the benchmarks ran; many corrected ones come from a cell "
    "that is about to fail",
    "check.gpu.rows": "do memory rows or pages wait for a reset, or have the spare ones run out; the next job may "
    "meet the same error",
    "check.gpu.pcie": "does each GPU use all lanes of its PCIe link; fewer halve every way to its NIC, at idle as "
    "under load",
    "check.gpu.clocks": "does hardware or heat hold the clocks of an idle GPU down; under load it would be slower "
    "still",
    "check.gpu.recovery": "does the driver ask for a reset of a GPU; it cannot get over an error otherwise",
    "check.gpu.loaded_clocks": "do GPUs keep their clocks while a benchmark runs; one that is held down slows all "
    "others",
    "check.gpu.loaded_pcie": "do GPUs at work use the fastest generation of their PCIe link; one that makes errors "
    "trains at a lower speed",
    "check.nvlink.links": "has each GPU as many active NVLinks as its model or as the other GPUs, at one speed; a "
    "ring runs at the slowest GPU",
    "check.nvlink.errors": "did NVLink errors grow while the benchmarks ran, or did a link go down; a link that "
    "repeats is slow and may fail",
    "check.fabric.manager": "does the fabric manager run, in the version of the driver, where a board has "
    "NVSwitches; without it there is no NVLink",
    "check.fabric.state": "has every GPU joined the NVSwitch fabric; one that has not cannot start CUDA, or works "
    "without NVLink",
}
