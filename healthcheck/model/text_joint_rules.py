"""Texts of the rules of the joint diagnosis: titles, what they mean where they are to be acted on, steps."""

from __future__ import annotations

JOINT_RULE_TEXTS: dict[str, str] = {
    # Where does the time of a step go?
    "joint.title.links_are_the_cause": "The links are the cause: the check-up measured a FAIL, and the training is "
    "slow",
    "joint.meaning.links_are_the_cause": "Communication that nothing hides lasts as long as the slowest link makes "
    "it, so links below half of their peak lengthen every step. Repair them before anything is tuned.",
    "joint.title.broken_part_in_slow_steps": "A part failed the check-up, and the training is slow",
    "joint.meaning.broken_part_in_slow_steps": "The bandwidth that was measured is not broken, because it was "
    "measured without that part. If the training uses it, it is the likely cause; if not, look at the communication "
    "itself.",
    "joint.title.slow_links_cost_time": "Steps wait for communication, and the links are slower than healthy",
    "joint.meaning.slow_links_cost_time": "The links work, and part of the wait is theirs: at 60 % of peak a "
    "transfer takes two thirds longer than at peak. Find out who slows them before the training is tuned.",
    "joint.title.communication_bound_on_healthy_links": "The training is bound by communication, and the links are "
    "healthy",
    "joint.meaning.communication_bound_on_healthy_links": "The links deliver, so it is how the training uses them: "
    "messages too small to reach their bandwidth, nothing that overlaps them, or a parallel layout that sends much "
    "over the slow links.",
    "joint.title.communication_bound_links_unmeasured": "The training is bound by communication, and nobody measured "
    "the links",
    "joint.meaning.communication_bound_links_unmeasured": "Either the links are slow or the training uses them "
    "badly. Only a check-up tells these apart, and it takes minutes.",
    "joint.title.mixed_with_bad_links": "Mixed: some waiting for communication, over links that are not healthy",
    "joint.meaning.mixed_with_bad_links": "Communication is a part of the loss and the links add to it; what else "
    "costs MFU stays open. Repair the links first, then measure again.",
    "joint.title.mixed": "Mixed: some waiting for communication, on healthy links",
    "joint.meaning.mixed": "Between the two cut-offs communication is one loss among others. Hide more of it, and "
    "look at what the compute itself loses.",
    "joint.title.mixed_links_unmeasured": "Mixed: some waiting for communication, over links that nobody measured",
    "joint.meaning.mixed_links_unmeasured": "Between the two cut-offs communication is one loss among others; how "
    "much of it the links owe is not known.",
    "joint.title.not_communication_though_links_are_bad": "The links are not healthy, yet the steps hardly wait for "
    "them",
    "joint.meaning.not_communication_though_links_are_bad": "Something else keeps MFU down. Or the profile was taken "
    "on other nodes than those the check-up found: make sure of that before the links are let off.",
    "joint.title.low_mfu_not_communication": "MFU is low, and communication is not why",
    "joint.meaning.low_mfu_not_communication": "What is left: matrices too small for the GPU, the bubble of the "
    "pipeline, waiting for data or for the host, recomputed activations, a slow kernel or a throttled GPU.",
    "joint.title.middle_mfu_not_communication": "MFU is between the cut-offs, and communication is not why",
    "joint.meaning.middle_mfu_not_communication": "Neither low nor good: usual for small models, long pipelines or "
    "full recomputation. Compare with a published run of that model and GPU before time is spent on it.",
    "joint.title.bad_links_share_unknown": "MFU is not good and the links are not healthy; how much waits for them "
    "is not known",
    "joint.meaning.bad_links_share_unknown": "The links may be the cause, and a profile of a few steps would prove "
    "it. They have to be repaired anyway.",
    "joint.title.low_mfu_links_are_not_why": "MFU is low, and the links are healthy",
    "joint.meaning.low_mfu_links_are_not_why": "The links are not why. The training may still wait for communication "
    "because of how it uses them, or lose its time elsewhere; a profile tells which.",
    "joint.title.low_mfu_alone": "MFU is low, and nothing else is known",
    "joint.meaning.low_mfu_alone": "Any cause is possible: links, the use of them, small batches, pipeline, data. A "
    "profile of a few steps and a check-up of the links halve the question each.",
    "joint.title.middle_mfu_share_unknown": "MFU is between the cut-offs, and how much waits for communication is "
    "not known",
    "joint.meaning.middle_mfu_share_unknown": "Neither low nor good. A profile of a few steps says whether there is "
    "much to gain from communication.",
    "joint.title.good_mfu_much_exposed": "MFU is good, although much of the step waits for communication",
    "joint.meaning.good_mfu_much_exposed": "Both can be true, then there is much to gain. Or one of them is not: MFU "
    "by a formula or peak that flatters, or a profile of other steps than those the MFU is of.",
    "joint.title.bad_links_training_well": "The links are not healthy, and this training does not suffer from it",
    "joint.meaning.bad_links_training_well": "Compute hides the communication, or the training ran on other nodes. A "
    "larger job, or one with less to compute between messages, will suffer.",
    "joint.title.well_with_room": "MFU is good; some waiting for communication is left",
    "joint.title.step_well": "MFU is good, and communication costs little or is not known to cost more",
    "joint.title.bad_links_hardly_felt": "The links are not healthy, and the profiled steps hardly wait for them",
    "joint.meaning.bad_links_hardly_felt": "Compute hides the communication, or the profile is of other nodes. MFU "
    "is not known, so nobody can say whether the training is well.",
    "joint.title.little_communication_mfu_unknown": "Little waits for communication; whether the compute is well is "
    "not known",
    "joint.meaning.little_communication_mfu_unknown": "Without MFU a slow kernel, a throttled GPU or too small a "
    "batch would not be seen.",
    "joint.title.step_unknown": "Nothing is known of where the time of a step goes",
    "joint.meaning.step_unknown": "Neither MFU nor a profile was given. What is said of the links stands, and says "
    "nothing about the training.",
    # What of the wall clock was worth it?
    "joint.title.goodput_lost_to_links": "Time is lost between the steps, and the links FAIL",
    "joint.meaning.goodput_lost_to_links": "The steps that run are fine, so the time goes into restarts, redone "
    "steps or stalls, and links that break end jobs. Repair them before checkpoints are tuned.",
    "joint.title.goodput_low_with_a_broken_part": "Time is lost between the steps, and a part of the machines failed "
    "its check-up",
    "joint.meaning.goodput_low_with_a_broken_part": "The bandwidth that was measured is fine without that part. It "
    "may be why the training restarted; the losses by name say whether restarts are what costs most.",
    "joint.title.fault_tolerance": "The steps are fine, and much of the time is lost between them",
    "joint.meaning.fault_tolerance": "Restarts, redone steps, checkpoints that hold up the training: a matter of "
    "fault tolerance, not of speed. The losses that vitals log names say which costs most.",
    "joint.title.goodput_and_mfu_low": "Time is lost between the steps, and the steps are slow, too",
    "joint.meaning.goodput_and_mfu_low": "Both losses multiply. The one between the steps is usually the quicker one "
    "to get back.",
    "joint.title.goodput_low_mfu_unknown": "Much of the time is lost between the steps; whether the steps are fine "
    "is not known",
    "joint.meaning.goodput_low_mfu_unknown": "Goodput is held against the training's own steady rate, so it does not "
    "say whether that rate is good.",
    "joint.title.goodput_in_between": "Some of the time is lost between the steps",
    "joint.meaning.goodput_in_between": "Between the two cut-offs. The losses that vitals log names say whether one "
    "of them is worth the work.",
    "joint.title.goodput_well": "Little of the time is lost between the steps",
    "joint.title.goodput_unknown": "How much of the time is lost between the steps is not known",
    "joint.meaning.goodput_unknown": "Restarts, redone steps and checkpoints stand in the log of the training only.",
    # Who waits?
    "joint.title.data_loading": "The GPU waits for data",
    "joint.meaning.data_loading": "The host does not deliver the next batch in time: too few loader workers, slow "
    "storage, or work in the loader that could be done beforehand.",
    "joint.title.idle_not_data": "The GPU idles, and not for want of data",
    "joint.meaning.idle_not_data": "Left are the bubble of the pipeline, kernels that are launched too slowly, and "
    "synchronisation with the host.",
    "joint.title.idle_host_unseen": "The GPU idles; the trace does not show what for",
    "joint.meaning.idle_host_unseen": "Waiting for data, the bubble of the pipeline, slow launches or "
    "synchronisation: a profile that records the host tells them apart.",
    "joint.title.some_waiting": "The GPU idles somewhat",
    "joint.title.little_waiting": "The GPU hardly idles",
    "joint.title.waiting_unknown": "How much the GPU idles is not known",
    # Are steps and ranks even?
    "joint.title.straggler": "One rank is later than the others and makes all of them wait",
    "joint.meaning.straggler": "The ranks of a step wait for the last one, so its node sets the pace: a throttled "
    "GPU, a busy host, a slow loader, or simply more work (the first and last stage of a pipeline have some).",
    "joint.title.steps_uneven_ranks_alike": "Some steps take much longer than others, on all ranks alike",
    "joint.meaning.steps_uneven_ranks_alike": "What slows all ranks at times: checkpoints, evaluation, a file "
    "system, a network that others use, too. In the profiled steps no rank stands out.",
    "joint.title.steps_uneven_who_unknown": "Some steps take much longer than others; who is late is not known",
    "joint.meaning.steps_uneven_who_unknown": "A log says when, never who. A node that is slow at times, or "
    "something all share: profiles of several ranks tell them apart.",
    "joint.title.somewhat_uneven": "Steps or ranks are somewhat uneven",
    "joint.title.even": "Steps and ranks are even, as far as they are known",
    "joint.title.evenness_unknown": "How even steps and ranks are is not known",
    # Do the collectives get what the links can do?
    "joint.title.collectives_below_the_links": "The collectives of the training get far less than the links can do",
    "joint.meaning.collectives_below_the_links": "The check-up measured the same collective, size and number of "
    "ranks much faster. The training starts NCCL with other settings, shares GPU or network with something, or its "
    "ranks come late (waiting counts where the trace does not hold all of them).",
    "joint.title.collectives_somewhat_below": "The collectives of the training get somewhat less than the links can do",
    "joint.title.collectives_as_measured": "The collectives of the training get what the check-up measured",
    "joint.title.effective_unknown": "What the collectives get of the links is not known",
    # The links by themselves.
    "joint.title.links_failed": "The links FAIL: their bandwidth was measured and is broken",
    "joint.meaning.links_failed": "The check-up judged them by the limits of its record; what it found is named there.",
    "joint.title.part_failed": "The check-up ends with FAIL for something else than the bandwidth of all",
    "joint.meaning.part_failed": "A part or a node failed and was left out, or the run failed otherwise; what was "
    "found is named in its record.",
    "joint.title.links_slow": "The links are slower than healthy, and not broken",
    "joint.meaning.links_slow": "Between broken and healthy, below what healthy machines of this kind read, or slow "
    "before somebody was left out; the record says which.",
    "joint.title.links_well": "The links are healthy",
    "joint.title.links_open": "The bandwidth that was measured is healthy, and the check-up left something open",
    "joint.meaning.links_open": "Its verdict is INCONCLUSIVE: a node or a stage that was asked for was not measured.",
    "joint.title.links_looked_at": "The machines were looked at, and no bandwidth was measured",
    "joint.meaning.links_looked_at": "A look sees links that are down or trained too low, not ones that are slow.",
    "joint.title.links_unmeasured": "Nothing is known of the links",
    "joint.meaning.links_unmeasured": "Without a check-up of these nodes slow links look like a slow training.",
    # How far does the record speak for this training?
    "joint.title.record_simulated": "The record is simulated",
    "joint.meaning.record_simulated": "Its numbers are those of a model. What follows from them here is a rehearsal.",
    "joint.title.record_incomplete": "The check-up was not finished",
    "joint.meaning.record_incomplete": "What it did not reach is not judged; a later stage may have found more.",
    "joint.title.record_complete": "The check-up is complete",
    "joint.title.record_absent": "There is no record",
    "joint.title.record_other_gpu": "The record is of another GPU than the training",
    "joint.meaning.record_other_gpu": "It is not of these machines, so it is left out of every rule.",
    "joint.title.record_same_gpu": "Record and training are of the same GPU",
    "joint.title.record_gpu_unknown": "Whether record and training are of the same GPU is not known",
    "joint.title.record_recent": "The links were measured at about the time of the training",
    "joint.title.record_weeks_apart": "The links were measured some time before or after the training",
    "joint.title.record_old": "The links were measured long before or after the training",
    "joint.meaning.record_old": "Links break and are repaired in between; what the record says may not have held then.",
    "joint.title.record_age_unknown": "How long before or after the training the links were measured is not known",
    "joint.title.record_covers": "The record measured as many nodes as trained",
    "joint.title.record_covers_a_part": "The record measured a part of the training only",
    "joint.meaning.record_covers_a_part": "Who was not measured may be the slow one, and one is enough.",
    "joint.title.record_of_others": "The record measured little or nothing of this training",
    "joint.meaning.record_of_others": "Other nodes, or far fewer of them, than those that trained.",
    "joint.title.record_cover_unknown": "Whether the record is of the nodes that trained is not known",
    "joint.title.documents_contradict": "The documents of the training contradict each other",
    "joint.meaning.documents_contradict": "An MFU for another pace, model or GPU, or the shares of other steps, "
    "are right by themselves, and are not those of this log: what follows from both of them does not hold.",
    "joint.title.documents_agree": "The documents of the training go together",
    "joint.title.documents_share_nothing": "Whether the documents are of one training is not known",
    # What to do.
    "joint.next.repair": "repair what the check-up names; its lines show it, and its page says how",
    "joint.next.search": "where nobody is named, search for who slows the links",
    "joint.next.measure_again": "measure the links again, then the training, and compare",
    "joint.next.measure_links": "measure the links of the nodes the training ran on",
    "joint.next.was_it_used": "find out whether the training ran on the part that failed; -H with its nodes reads "
    "the record for those alone",
    "joint.next.same_nodes": "make sure that check-up and training used the same nodes (-H)",
    "joint.next.same_training": "make sure that both numbers are of the same training",
    "joint.next.larger_job": "keep larger jobs off these nodes until they are repaired",
    "joint.next.budget": "hold it against what reducing the gradients should cost at the busbw that was measured",
    "joint.next.messages": "look at the sizes in the trace: many small messages never reach the bandwidth of the "
    "links; larger gradient buckets, or fewer and larger collectives, do",
    "joint.next.overlap": "hide more communication behind compute: reduce gradients during the backward pass, fetch "
    "parameters before they are needed",
    "joint.next.layout": "keep what talks most inside a node: tensor parallelism over NVLink, data and pipeline "
    "parallelism between nodes",
    "joint.next.settings": "hold the NCCL settings of the training against those of the check-up; NCCL_DEBUG=INFO "
    "prints both",
    "joint.next.contention": "see who else uses the network or the GPUs during the training",
    "joint.next.batch": "give each GPU larger matrices: a larger micro-batch, longer sequences, less tensor "
    "parallelism",
    "joint.next.bubble": "more micro-batches a step: with p stages and m of them the bubble takes (p - 1) / (m + p - "
    "1) of it",
    "joint.next.idle": "look at the gaps in the trace: what does the host do in them?",
    "joint.next.launches": "launch less: CUDA graphs, fused kernels, no synchronisation inside a step",
    "joint.next.precision": "make sure that the matrices are computed in BF16 or FP8, and that no GPU is throttled",
    "joint.next.data": "more loader workers, prefetching, data tokenised beforehand, storage closer to the nodes",
    "joint.next.mfu": "have MFU calculated from the model, tokens/s and the GPU",
    "joint.next.check_mfu": "calculate MFU again, with formula and peak stated",
    "joint.next.trace": "profile a few steps: it says how much of a step waits for communication, for data, for the "
    "host",
    "joint.next.all_ranks": "profile several ranks at the same steps and give them to vitals trace together",
    "joint.next.straggler": "look at the node of the rank that is late, and measure it alone",
    "joint.next.swap": "move that rank to another node: does the lateness move with the node or stay with the rank?",
    "joint.next.when_slow": "see in the log when steps are slow: at checkpoints, at certain times of day, after a "
    "restart",
    "joint.next.others": "see who else uses network and storage at those times",
    "joint.next.both": "begin with what is lost between the steps, then take the steps",
    "joint.next.why_restarted": "find out why it restarted: the failures and restarts that vitals log lists",
    "joint.next.checkpoint": "save asynchronously, and so often that a crash costs little: about every square root "
    "of twice the time of a save times the time between failures",
    "joint.next.gate": "start only on nodes that pass a gate",
}
