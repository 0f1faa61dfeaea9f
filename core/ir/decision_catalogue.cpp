#include "ir/decision_catalogue.h"

namespace fusescope {

// Every code, in the order of the pipeline. "{argument}" is replaced by the value in Decision::arguments; see
// DecisionCode. Codes do not change, because files contain them and users filter by them. A sentence whose subject is
// the node that is printed before it may leave this subject out: "is removed: …".
const std::vector<DecisionCode>& decisionCatalogue() {
  using enum DecisionKind;
  static const std::vector<DecisionCode> kCatalogue = withMetExtents({
      // import
      {"import.function_inlined", Import, true,
       "calls the function {function} and is replaced by the contents of that function: {nodes|node/nodes}"},
      {"import.plain_form", Import, true, "{op} is read as the equivalent operators {form}"},
      {"import.maps_as_table", Import, true,
       "makes maps from class to score; instead, {value} is read as a table of the scores, with a row for each map and "
       "a column for each of the classes {classes}"},
      {"import.attribute_dropped", Import, true,
       "its attribute {attribute} is of a kind that is not read; it is left out"},
      {"import.newer_opset", Import, true,
       "the file uses opset {opset} of ai.onnx; operators are read as opset {known} defines them"},
      {"import.newer_ir_version", Import, true,
       "the file has version {version} of the ONNX format; it is read as if it had version {known}"},
      {"import.older_ir_version", Import, true,
       "the file has version {version} of the ONNX format; it is read as if it had version {oldest}"},
      {"import.opset_missing", Import, true,
       "the file does not say which opset of {domain} it uses; the first opset is assumed"},
      {"import.input_specs_ignored", Import, true,
       "the description of inputs in its metadata ({key}) is ignored: {why}"},
      {"import.input_specs_newer", Import, true,
       "the description of inputs in its metadata ({key}) has version {version}, and this program reads versions up to "
       "{known}: it is preserved but ignored"},
      {"import.training_dropped", Import, true, "the file contains steps of training; only the network is read"},
      {"import.node_renamed", Import, true, "another node is also called {name}; this one is renamed to {given}"},
      {"import.name_shadowed", Import, true,
       "the name {name} means one value inside this body and another value outside it"},
      {"import.initializer_repeated", Import, true,
       "{value} is in the file twice, with equal elements; it is read as one value"},
      {"import.initializers_unused", Import, true,
       "nothing reads {count} of its initializers ({bytes|bytes}); they are not part of the network"},
      {"import.types_of_nothing", Import, true,
       "declares the types of {count|value/values} that it does not contain; these declarations are ignored"},
      {"import.type_repeated", Import, true,
       "the file declares the type of {value} twice, as {first} and as {again}; {first} is used"},
      {"import.sorted", Import, true,
       "lists {count|node/nodes} before the nodes that calculate their inputs; its nodes are sorted"},
      {"import.trains", Import, true, "{op} works as in training: {what}. Export the network for inference"},
      {"import.network_of_layers", Import, true,
       "this is not a trained network, but the {layers} layers of an engine; its nodes are the {drawn} layers that "
       "write tensors"},
      {"import.extent_without_bound", Import, true,
       "the file has no upper bound for extent {axis} of {input}; {max} is assumed"},
      {"import.example_inputs_refused", Import, true, "its example inputs are left out: {why}"},
      {"import.made_by_torch", Import, true,
       "torch {torch} made this network from the exported program; {tied} of its {nodes|node/nodes} are matched with "
       "nodes of the program"},
      {"import.made_network_unusable", Import, true,
       "the file contains a network that torch made from the program, but it cannot be used: {why}"},
      {"import.needs_torch", Import, true,
       "the network consists of PyTorch's own operators, which can be viewed, planned and pinned, but not run; this "
       "command makes a network that can run: {command}"},
      {"import.exported_by_torch", Import, true, "torch {torch} made the program from {source} by {way}"},
      {"import.way_refused", Import, false, "{way} failed: {why}"},
      {"import.put_in_evaluation", Import, true,
       "the module was in training mode; it is exported after module.eval(), so that it works as in inference"},
      {"import.graph_break", Import, false, "{file}:{line}, in {function}: TorchDynamo breaks the graph: {reason}"},
      {"import.recompiled", Import, true, "{file}:{line}, {function}: TorchDynamo compiles it again: {reason}"},
      {"import.breaks_left_out", Import, false,
       "not all are listed: TorchDynamo also breaks the graph at {breaks|more place/more places}, and compiles again "
       "for {recompiles|more reason/more reasons}"},
      {"import.breaks_unknown", Import, false,
       "TorchDynamo could not run the module on its example inputs, so that breaks of the graph are not known: {why}"},
      {"import.lost_by_torchscript", Import, true, "this is lost because the file is TorchScript: {what}"},
      {"import.rebuilt_from_log", Import, true,
       "this is not its author's file, but a network that was rebuilt from the log of a build ({file}): its weights "
       "have no numbers. Number of nodes that cannot be calculated, because the log does not contain everything that "
       "their operators need: {unknown}"},
      {"import.constant_not_a_number", Import, true,
       "{count} of the {elements} elements of {value} are not numbers (NaN)"},
      {"import.constant_infinite", Import, true, "{count} of the {elements} elements of {value} are infinite"},
      {"import.constant_denormal", Import, true,
       "{count} of the {elements} elements of {value} are denormal numbers; they are slow to calculate with, and some "
       "kernels treat them as 0"},
      // normalise
      {"normalise.constant_node", Normalise, true, "is a constant; its value is used directly"},
      {"normalise.identity_removed", Normalise, true,
       "does nothing and is removed; what read its output now reads its input"},
      {"normalise.dropout_removed", Normalise, true,
       "drops nothing outside training and is removed; what read its output now reads its input"},
      {"normalise.extents_known", Normalise, true, "returns extents that are known; its result is a constant"},
      {"normalise.branch_taken", Normalise, true,
       "its condition is always {condition}; it is replaced by its {branch}, which has {nodes|node/nodes}"},
      {"normalise.einsum_product", Normalise, true, "'{equation}' is a product; it is written as {form}"},
      {"normalise.folded", Normalise, true, "depends only on constants; its result is a constant"},
      {"normalise.noop_removed", Normalise, true,
       "{op} does not change its input, {type}, and is removed; what read its output now reads its input"},
      {"normalise.rows_kept", Normalise, true,
       "is removed: it only flattens its input to rows, and {node} gives the same result without this, because it "
       "works along the last axis"},
      {"normalise.codes_moved", Normalise, true,
       "is moved past {moves} of its neighbours, so that these move integers instead of the numbers that the integers "
       "represent"},
      {"normalise.dequantize_copied", Normalise, true,
       "was copied, so that each of its {readers} readers has its own and each kernel reads the integers"},
      {"normalise.dead", Normalise, true, "no output of the network depends on it"},
      // infer
      {"infer.shape_constant", Infer, true,
       "the network computes the extents of its result, which are always {shape}; this constant replaces the nodes "
       "that compute them (0, and 1 for an Expand, means the extent of the input; -1 means the remaining extent)"},
      {"infer.condition", Infer, true,
       "joins open extents that the file does not declare to be equal; they are assumed to be equal, on the condition "
       "{condition}"},
      {"infer.demand", Infer, true,
       "is known to work where {condition}; inputs with other extents are checked before anything runs, and are "
       "refused "
       "if the node cannot work on them"},
      {"infer.value_contradicted", Infer, true,
       "the file declares {declared} for {value}, but {computed} is computed; the computed type is used"},
      {"infer.output_contradicted", Infer, true,
       "the file declares {declared} for output {value}, but {computed} is computed; callers get the computed type"},
      // input
      {"input.assumed", Input, true,
       "the file leaves extents of {input} open; {opt} is assumed, and a range from {min} to {max}, which refuses no "
       "inputs: {because}"},
      {"input.range_of_exporter", Input, true,
       "the exporter of the file declares that the extents of {input} are from {min} to {max}; {opt}, which is between "
       "them, is assumed: {because}"},
      {"input.not_assumed", Input, false,
       "the file leaves extents of {input} open, and no extents were found that the network accepts; give them with "
       "{command}. With {tried}: {problem}"},
      // truncate
      {"truncate.input", Truncate, true,
       "input {value} is narrowed from {from} to {to} where an accelerated segment reads it"},
      {"truncate.constant", Truncate, true,
       "constant {value}{captured} is narrowed from {from} to {to}: every element fits into {to}"},
      {"truncate.constant_saturates", Truncate, true,
       "constant {value}{captured} is narrowed from {from} to {to}: {element} does not fit into {to}, but {consumer} "
       "treats every number this large as no limit"},
      {"truncate.produced", Truncate, true, "{value} is produced as {to} instead of {from}"},
      {"truncate.constant_out_of_range", Truncate, false,
       "constant {value}{captured} stays {from}: {element} does not fit into {to}"},
      {"truncate.constant_without_data", Truncate, false,
       "constant {value}{captured} stays {from}: the model does not contain its data, which would be needed to prove "
       "that it fits into {to}"},
      {"truncate.not_chosen", Truncate, false,
       "{value} stays {from}, which {target} lacks: truncation of {from} was not chosen ({option} {mode} narrows it "
       "wherever a segment can read it)"},
      {"truncate.mode", Truncate, true, "truncation mode {mode} was asked for; {values|value is/values are} narrowed"},
      // quantize
      {"quantize.product", Quantize, true,
       "multiplies integers: {value} is read as codes of 8 bits, and weights {weights} are stored as int8 with "
       "{ranges}"},
      {"quantize.edge", Quantize, true,
       "nodes that multiply {value} read it as {type} with step {scale} and zero point {zero}"},
      {"quantize.shared_scale", Quantize, true,
       "{value} is stored as {type} with step {scale} and zero point {zero}; it has the same scale as "
       "{count|other/others}, because their elements are selected or joined: {others}"},
      {"quantize.residual", Quantize, true,
       "adds {value}, which it reads as quantised codes, to the result of the convolution before it"},
      {"quantize.bias_corrected", Quantize, true,
       "its bias compensates for the change that rounded weights make to the mean of each channel; this change is "
       "{most} at most"},
      {"quantize.smoothed", Quantize, true,
       "the channels of {value} are divided by {least} to {most} where they are calculated, and the weights of the "
       "products that read them are multiplied by the same numbers, so that one scale suits all channels better"},
      {"quantize.weight_only", Quantize, true,
       "calculates in floats; weights {weights} are stored as {type} with {scales}"},
      {"quantize.read_as_floats", Quantize, false,
       "reads {value} as floats, although other nodes read it as quantised codes: no kernel for {op} works only on "
       "codes"},
      {"quantize.pinned", Quantize, false, "stays in floats: {pin}"},
      {"quantize.excluded", Quantize, false, "stays in floats: the ranges leave out '{pattern}'"},
      {"quantize.fallback", Quantize, false, "stays in floats: it is to run in fallback"},
      {"quantize.not_asked", Quantize, false, "stays in floats: nothing asks for int8 here"},
      {"quantize.slower", Quantize, false,
       "stays in floats: with the conversions around it, floats are faster ({floats_ms|time} alone, integers "
       "{integers_ms|time})"},
      {"quantize.faster", Quantize, true,
       "multiplies integers: with the conversions around it, integers are faster ({integers_ms|time} alone, floats "
       "{floats_ms|time})"},
      {"quantize.no_price", Quantize, true,
       "multiplies integers, as is the rule without prices: the times of both types are not known here"},
      {"quantize.author", Quantize, false, "already reads quantised codes: the network's author quantised it"},
      {"quantize.not_float32", Quantize, false, "stays as it is: it reads {type}, not float32"},
      {"quantize.two_activations", Quantize, false,
       "stays in floats: its second operand {value} is not a constant, and attention around such products stays one "
       "kernel"},
      {"quantize.no_kernel", Quantize, false, "stays in floats: {why}"},
      {"quantize.no_range", Quantize, false, "stays in floats: the ranges do not contain {value}"},
      {"quantize.weights_not_finite", Quantize, false,
       "stays in floats: {count} of the {elements} elements of its weights {weights} are infinite or NaN, which no "
       "integer can represent"},
      {"quantize.all_zero", Quantize, false, "stays in floats: all numbers of {value} were 0"},
      {"quantize.range_outgrown", Quantize, false,
       "the range that was recorded for it is too small for its new numbers: {channels} of {all|channel/channels} are "
       "clamped{need}. Calibrate again"},
      {"quantize.range_loose", Quantize, false,
       "its new numbers need less than half of the range that was recorded for it in {channels} of "
       "{all|channel/channels}, which lose one bit of precision or more. Calibrate again"},
      {"quantize.range_unchecked", Quantize, true,
       "the ranges of {edges|activation/activations} were recorded with the earlier weights; only runs with inputs can "
       "show whether they are right for the new weights. fusescope calibrate records them again, and fusescope errors "
       "measures the error"},
      // validate
      {"validate.supported", Validate, true, "{target} supports {op} at these types"},
      {"validate.supported_with_condition", Validate, true, "{target} supports {op}, provided that {condition}"},
      {"validate.supported_with_caveat", Validate, true, "{target} supports {op}, but {caveat}"},
      {"validate.no_kernel", Validate, false, "{why}"},
      {"validate.reference_only", Validate, false,
       "the {backend} backend has no kernel for {op}; the reference runs it"},
      {"validate.operator_not_supported", Validate, false, "the ONNX parser of {target} does not know {op}{hint}"},
      {"validate.unknown_for_version", Validate, false,
       "whether {target} supports {op} is not known: the newest list of its operators that is available, that of "
       "{version}, does not contain it{hint}"},
      {"validate.type_not_supported", Validate, false,
       "{target} does not support {op} with type {type} (value {value}){mend}"},
      {"validate.type_unknown", Validate, false, "the type of {value} is not known"},
      {"validate.rank_not_supported", Validate, false,
       "{target} supports {op} only where {statement}; that of {value} is {rank}"},
      {"validate.attribute_not_supported", Validate, false,
       "{target} supports {op} only where {statement}; here it is {given}"},
      {"validate.operand_not_constant", Validate, false,
       "{target} supports {op} only where {statement}; {value} is calculated or given at run time{mend}"},
      {"validate.operand_not_supported", Validate, false,
       "{target} supports {op} only where {statement}; {value} {given}{mend}"},
      {"validate.shape_not_supported", Validate, false,
       "{target} supports {op} only where {statement}; that of {value} is not{mend}"},
      {"validate.restriction_not_met", Validate, false, "{target} supports {op} only where {statement}"},
      {"validate.body_not_supported", Validate, false,
       "{target} cannot run {op}: {path} in its body cannot run there, because {reason}"},
      {"validate.needs_truncation", Validate, false,
       "{target} lacks {type} (value {value}); --truncate {mode} would make {op} supported"},
      {"validate.was_built", Validate, true,
       "{op} is in an engine that was built, so it is supported, although the target's table may say otherwise"},
      {"validate.predicted_refusal", Validate, true,
       "{compiler} was asked and does not refuse {op}, although the table of the target predicts that it does: "
       "{predicted}"},
      {"validate.compiler_refused", Validate, false, "{compiler} refuses {op}: {message}"},
      {"validate.compiler_failed", Validate, false, "{compiler} could not compile it: {message}"},
      {"validate.not_asked", Validate, false, "{compiler} was not asked about it: {message}"},
      {"validate.constant_not_truncated", Validate, false, "{target} lacks {type}, and constant {value} {why}"},
      // partition
      {"partition.supported", Partition, true, "runs in {segment}"},
      {"partition.forced_fallback", Partition, false, "falls back because a directive asks for it"},
      {"partition.nothing_to_fall_back", Partition, true, "there is nothing to send to fallback: {became}"},
      {"partition.not_supported", Partition, false, "falls back: {target} cannot run it"},
      {"partition.not_asked", Partition, false, "falls back: {target} was not asked about it"},
      {"partition.too_small", Partition, false,
       "is supported, but its segment has only {nodes} nodes, fewer than the {minimum} nodes asked for"},
      {"partition.would_cycle", Partition, false,
       "the segment of {consumer} cannot join that of {producer}: a path leaves through {through} and comes back"},
      {"partition.split", Partition, false,
       "{producer} and {consumer} are in different segments: a split was asked for after {node}"},
      {"partition.segment_ends", Partition, true,
       "a segment of {compiler} ends after it, so that no kernel of {compiler} is on both sides of the split"},
      {"partition.equal_segments", Partition, true,
       "{compiler} compiled {equal} of the {of} segments only once, because they are equal, including their weights"},
      {"partition.min_segment", Partition, true,
       "segments have at least {minimum|node/nodes}; {lost|node/nodes} fell back because of this"},
      // fuse
      {"fuse.merged", Fuse, true, "runs as one {kind} kernel (rule {rule})"},
      {"fuse.predicted", Fuse, true,
       "{target} is expected to run it as one {kind} kernel (rule {rule}); only the layer information of an engine can "
       "confirm this"},
      {"fuse.single", Fuse, true, "runs alone as {kind}"},
      {"fuse.predicted_alone", Fuse, true,
       "our own rules expect that {compiler} runs it alone as {kind}; only what {compiler} made can confirm this"},
      {"fuse.predicted_apart", Fuse, false,
       "our own rules, which only predict what {compiler} does, do not fuse it: {reason}"},
      {"fuse.split", Fuse, false, "{producer} and {consumer} are not fused: a split was asked for after {node}"},
      {"fuse.split_honoured", Fuse, true, "nothing fuses across its output"},
      {"fuse.nothing_to_keep_apart", Fuse, true, "there is nothing to keep apart: {became}"},
      {"fuse.no_fuse", Fuse, false, "a directive forbids rule {rule} for {node}"},
      {"fuse.no_fuse_honoured", Fuse, true, "rule {rule} is switched off for {nodes|node/nodes}"},
      {"fuse.no_fuse_asked", Fuse, true,
       "{compiler} is asked to switch off the optimisers that correspond to our rule {rule}: {optimisers}"},
      {"fuse.without_effect", Fuse, false, "{option} has no effect on {compiler}: {why}"},
      {"fuse.precision_differs", Fuse, false,
       "{producer} computes in {producer_type} and {consumer} in {consumer_type}, and a {kind} kernel has one type for "
       "both"},
      {"fuse.other_cast", Fuse, false,
       "{producer} reads {value} and {consumer} reads {other}, with a Cast between the two; a kernel with several "
       "products must read one value"},
      {"fuse.output_type_pinned", Fuse, false,
       "{producer} and {consumer} are not fused: the output of {node} has a pinned type and must be stored in memory"},
      {"fuse.inner_value_used_outside", Fuse, false,
       "{value} is also used by {user}, and a {kind} kernel cannot write an inner value to memory"},
      {"fuse.model_output_inside", Fuse, false,
       "{value} is an output of the network, and a {kind} kernel cannot write an inner value to memory"},
      {"fuse.would_cycle", Fuse, false,
       "{producer} and {consumer} cannot be fused: a path leaves through {through} and comes back"},
      {"fuse.parallel_slower", Fuse, false,
       "{products} products of one input run in separate kernels, which take {apart_ms|time}; one kernel for all of "
       "them takes {together_ms|time}"},
      {"fuse.shape_differs", Fuse, false,
       "{producer} and {consumer} have different extents; one kernel for both would compute elements more than once"},
      {"fuse.shape_unknown", Fuse, false,
       "the extents of {value} are not known, so {producer} and {consumer} cannot be proved to fit"},
      {"fuse.other_segment", Fuse, false, "{producer} and {consumer} are in different segments"},
      {"fuse.fallback_segment", Fuse, false, "{segment} is fallback: each of its nodes runs alone"},
      {"fuse.producer_not_fusible", Fuse, false, "a kernel of {producer} ({op}) cannot include {consumer_kind}"},
      {"fuse.epilogue_operand", Fuse, false,
       "{consumer} cannot follow {producer} in one kernel: its operand {value} does not broadcast to the output of the "
       "kernel"},
      {"fuse.layout_would_be_fixed", Fuse, false,
       "{consumer} is not fused because {producer} would then have to write its output in the plain memory format"},
      {"fuse.pattern_incomplete", Fuse, false, "looks like {kind}, but {what}"},
      // precision
      {"precision.default", Precision, true, "computes in {type}"},
      {"precision.lowered", Precision, true, "computes in {type}, as the precision of the plan asks"},
      {"precision.measured", Precision, true,
       "computes in {type}: with this type, kernels and conversions together take the least time, according to "
       "measured and fitted times"},
      {"precision.not_measured", Precision, true,
       "stays {type}: nothing was measured that shows another type to be faster"},
      {"precision.search_bounded", Precision, true,
       "of {types} types, f32 was compared with each of the others one after the other until nothing became cheaper; a "
       "mixture of more than two types may be cheaper"},
      {"precision.not_float", Precision, true, "computes no floats; precision does not apply"},
      {"precision.lowered_by_edit", Precision, true,
       "computes in {type}, as the precision of the plan asks, by an edit of the network, whose types decide: {edit}"},
      {"precision.moved", Precision, true, "moves elements and keeps their type {type}"},
      {"precision.author_cast", Precision, true,
       "is a Cast that the network's author wrote: its result is rounded to {type}, inside kernels too"},
      {"precision.author", Precision, true, "keeps {type}, which its author chose: {author}"},
      {"precision.quantised", Precision, true,
       "multiplies the {type} integers that it reads, as the network is quantised"},
      {"precision.fallback", Precision, true, "runs in fallback and keeps {type}"},
      {"precision.type_kept", Precision, true, "keeps {type}: {target} computes it in no other type"},
      {"precision.type_not_offered", Precision, false,
       "{type} was asked for, but {target} does not calculate in {type}: no node was lowered to it"},
      {"precision.operator_lacks", Precision, true, "keeps {type}: {why}"},
      {"precision.pin_granted", Precision, true, "computes in {type}, as pinned"},
      {"precision.pin_by_edit", Precision, true,
       "the pin to {type} is honoured by an edit of the network, whose types decide: {edit}"},
      {"precision.nothing_to_pin", Precision, true, "there is nothing to pin: {became}"},
      {"precision.pin_refused", Precision, false, "cannot compute in {type}, although the pin is marked obey: {why}"},
      {"precision.pin_not_honoured", Precision, false, "does not compute in {type}, as the pin prefers: {why}"},
      {"precision.output_granted", Precision, true, "stores its output as {type}, as pinned"},
      {"precision.output_inner", Precision, true,
       "{value} would be stored as {type}, but it is an inner value of type {held} and is never stored; with obey it "
       "is stored in memory"},
      {"precision.output_refused", Precision, false,
       "cannot store its output as {type}, although the directive is marked obey: {why}"},
      {"precision.output_not_honoured", Precision, false,
       "does not store its output as {type}, as the directive prefers: {why}"},
      {"precision.overridden", Precision, false,
       "directive {directive} is overridden by another directive: {in_force} {why}"},
      {"precision.pin_free", Precision, true, "the pin to {type} is satisfied for free: {because}"},
      {"precision.pin_price", Precision, true,
       "the pin to {type} is satisfied at a price: {retyped|operator calculates/operators calculate} in another type "
       "because of it; kernels that are split: {lost}; {kernels|kernel more} and {casts|cast more}; kernels move "
       "{kernel_bytes|bytes more} and casts {cast_bytes|bytes more}"},
      {"precision.pin_in_floats", Precision, true,
       "the pin to {type} is satisfied, but it costs quantised codes: these nodes read floats instead of codes: "
       "{nodes}"},
      {"precision.pins_together", Precision, true,
       "all {pins} pins together: kernels that are split: {lost}; {kernels|kernel more} and {casts|cast more}; kernels "
       "move {kernel_bytes|bytes more} and casts {cast_bytes|bytes more}. Compared with the sum of the single pins: "
       "{shared_kernels|kernel more}, {shared_casts|cast more}, and {shared_bytes|bytes more} moved"},
      {"precision.index_lowered", Precision, false,
       "becomes an index of {index_of} and is calculated in {type}, which represents integers exactly only up to "
       "{limit}"},
      // tactic
      {"tactic.requested", Tactic, true, "a directive asks for tactic {tactic}"},
      {"tactic.nothing_to_run", Tactic, true, "there is nothing to run with another tactic: {became}"},
      {"tactic.pinned", Tactic, true, "runs with {tactic}, as asked"},
      {"tactic.unknown", Tactic, false,
       "cannot run with {tactic}: there is no such tactic for it here; its tactics are {known}"},
      {"tactic.missing", Tactic, false,
       "was built with {tactic}, which this machine does not offer: another tactic is chosen"},
      {"tactic.workspace", Tactic, false,
       "does not run with {tactic}: it needs {bytes|bytes} of scratch memory, and the workspace allows {limit|bytes}"},
      {"tactic.inexact", Tactic, false,
       "does not run with {tactic}, whose numbers are not exact ({numerics}), because its contract requires exact "
       "numbers"},
      {"tactic.failed", Tactic, false,
       "runs with {instead}, since it cannot be prepared to run with {tactic}: {problem}"},
      {"tactic.unfused", Tactic, false,
       "runs node by node in {ms|time}: each fused kernel for it takes {fused_ms|time} or more, and the difference is "
       "larger than the spread of the measurements"},
      {"tactic.dynamic", Tactic, true, "is prepared while it runs, not ahead of time: {reason}"},
      // cache
      {"cache.same_structure", Cache, true,
       "has the same structure as {first}: the two were measured once, and each has its own weights"},
      {"cache.damaged", Cache, true,
       "the timing cache {file} was damaged; it was moved to {moved_to}, and a new one was begun"},
      {"cache.unavailable", Cache, false, "{file}: {problem}; every tactic is measured again"},
      {"cache.times_not_kept", Cache, true, "new measured times are not kept in {file}: {problem}"},
      {"cache.found", Cache, true,
       "an earlier answer of {compiler} for it was found on {where}: Fusescope {made_by} asked for it {age} ago, and "
       "the answer took {took_ms|time}. The times of its phases are from that build"},
      {"cache.compiled_saved", Cache, true,
       "what {compiler} compiled in {took_ms|time} is kept ({bytes|bytes}), so that the next run loads it"},
      {"cache.compiled_loaded", Cache, true,
       "the compiled network was found on {where} and loaded in {load_ms|time} instead of compiled in "
       "{took_ms|time}: Fusescope {made_by} let {compiler} save it {age} ago"},
      {"cache.compiled_slower", Cache, true,
       "the compiled network that Fusescope {made_by} let {compiler} save {age} ago was loaded from {where} in "
       "{load_ms|time}. Compiling it took only {took_ms|time}, so that it is not kept any longer"},
      {"cache.compiled_not_loaded", Cache, true,
       "{compiler} could not load the network that it had compiled, and compiled it again; it is not kept any "
       "longer: {problem}"},
      {"cache.entry_damaged", Cache, true,
       "the kept answer ({about}) failed its check and is not used: {why}. It is made again"},
      {"cache.store", Cache, true, "the store of kept answers has a problem: {problem}"},
      // build
      {"build.optimiser_unknown", Build, false,
       "{compiler} was asked to leave out {optimiser}, which is not a known name of an optimiser, so that it may have "
       "no effect"},
      {"build.other_provider", Build, true, "the execution provider {provider} runs it, not the requested {asked}"},
      {"build.numbers_differ", Build, true,
       "the compiler's tensor {tensor} was assigned to it but has other numbers; kernels that were placed by this "
       "tensor are at best guessed"},
      {"build.replanned", Build, false,
       "the engine was built by Fusescope {version} with different {parts}; it is planned again by the rules of this "
       "version and may be slower than it was"},
      {"build.compiled_again", Build, true,
       "{compiler} compiled the network again with the new weights, because {why}"},
      {"build.other_numbers", Build, true,
       "its code may contain numbers that have changed ({constants}): it is compiled again, and its earlier times are "
       "not used"},
      {"build.names_of_engine", Build, true,
       "the network with the new weights has other names for {count|node/nodes}, and is otherwise the same; the engine "
       "keeps its names, and the directives that use them"},
      {"build.times_of_other_weights", Build, true,
       "the times of {count|kernel/kernels} were measured with the weights of {model}; they are used because the code "
       "is the same"},
      {"build.times_of_other_machine", Build, true,
       "the times of {count|kernel/kernels} were measured on another machine and are not used"},
      {"build.disturbed", Build, false,
       "other work disturbed the measurements: while {disturbed} of {measured} kernel times were measured, the median "
       "run took {times} times as long as the fastest ones; the next build measures these kernels again"},
      {"build.effort_spent", Build, false,
       "{left|region was/regions were} not measured, of {all} with a choice, because the {seconds} seconds for "
       "measuring were over: the predicted choice is used there. {measured} were measured now, and {known} before; "
       "--effort allows more time"},
      {"build.below_noise", Build, true,
       "{left|region was/regions were} not measured, of {all} with a choice: better tactics for all of them together "
       "are expected to save less than measurements are off by here, which is {noise} %. The predicted choice is used "
       "there; {measured} were measured now, and {known} before"},
      {"build.machine_busy", Build, false,
       "{left|region was/regions were} not measured, of {all} with a choice, because other programs used the "
       "processors: the predicted choice is used there, and the next build measures them. {measured} were measured "
       "now, and {known} before"},
      {"build.condition_failed", Build, false,
       "the plan assumes that {condition}, which is not true for {extents}: a separate plan runs these extents"},
      {"build.compiler_memory", Build, true,
       "{compiler} uses {activations|bytes} for values between kernels, {weights|bytes} for weights and at most "
       "{scratch|bytes} of scratch memory for a kernel"},
      {"build.compiler_warns", Build, true, "{compiler} warns: {message}"},
      {"build.hint_granted", Build, true,
       "{compiler} was asked to calculate floats in {asked}, but it chose {granted}"},
      {"build.input_left_out", Build, true,
       "{compiler} does not receive this input: nothing reads it, and {compiler} does not have its type {type}"},
      {"build.program_tied", Build, true,
       "{compiler} compiled the exported program of the network: {tied} of {nodes|node/nodes} are matched with nodes "
       "of the program, and {equal} of {weights|weight/weights} are equal in both"},
      {"build.not_in_program", Build, true,
       "no node of the exported program that {compiler} compiled is known to correspond to this node, so its fate is "
       "not disclosed"},
      {"build.program_divided", Build, true,
       "{compiler} counts {supported} of {total|operator/operators} of the lowered program as supported: it makes "
       "{engines|engine/engines} of them, and {in_torch|operator stays/operators stay} in torch"},
      {"build.engine_as_a_whole", Build, true,
       "{engine} is an engine of {operators|operator/operators} of the lowered program and is reported as a whole: a "
       "dry run does not say which kernels TensorRT makes of it"},
      {"build.engine_of_doubles", Build, false,
       "{compiler} counts {operator} as supported in {engine}, and it reads or makes float64 there, a type that "
       "TensorRT does not have. With truncate-double=on, the inputs of the engine are cast to float32 in front of it"},
      {"build.engine_reads_double", Build, false,
       "{compiler} reports {input} as a float64 input of {engine}, and no engine of TensorRT accepts float64. With "
       "truncate-double=on it is cast to float32 in front of the engine"},
      {"build.truncates_double", Build, true,
       "{compiler} casts {input} from {type} to f32 in front of {engine}, as truncate-double=on asks"},
      {"build.torch_no_converter", Build, false, "stays in torch: {compiler} has no converter for {operator}"},
      {"build.torch_validator", Build, false,
       "stays in torch: {compiler} has a converter for {operator}, but its validator {validators} rejects the "
       "operator{words}"},
      {"build.torch_compares_list", Build, false,
       "{validators} compares the dilation {dilation}, which is a list, with the number 1, and therefore wrongly "
       "treats it as a dilation other than 1. {otherwise}"},
      {"build.torch_open_extents", Build, false,
       "stays in torch: {compiler} has a converter for {operator}, but it does not accept open extents"},
      {"build.torch_complex", Build, false,
       "stays in torch: {operator} reads or makes complex numbers, which TensorRT does not have"},
      {"build.torch_asked", Build, false, "stays in torch: the option torch-executed-ops contains {operator}"},
      {"build.torch_small_block", Build, false,
       "stays in torch: {compiler} has a converter for {operator}, but the block of the operator has "
       "{operators|operator/operators}, and an engine has at least {least} (min-block-size)"},
      {"build.torch_unknown", Build, false,
       "stays in torch: {compiler} has a converter for {operator}, and nothing in its answer says why it is not used"},
      {"build.without_gpu", Build, true,
       "CPU, not supported by upstream: {compiler} cannot be imported without a GPU, and this machine has none, so the "
       "functions that ask for one were replaced. The dry run itself is unchanged"},
      {"build.dry_run_untried", Build, true,
       "nobody has tried the dry run of {compiler} {where} through Fusescope yet"},
      {"build.multiplies_tf32", Build, true,
       "on this card {compiler} may multiply values of f32 in TF32, which keeps 10 bits of each mantissa: in {where}. "
       "--compiler-option tf32=off keeps all 23"},
      {"build.shares_kernels", Build, true,
       "{compiler} names it among the origins of {kernels|kernel/kernels} and does not say which of them calculates "
       "it"},
      {"build.origins_unknown", Build, true,
       "TorchInductor names {count|node/nodes} of the exported program as origins of its kernels from which no node of "
       "this network was made: {nodes}"},
      {"build.layers_of_node", Build, true, "TensorRT's parser made {count|layer/layers} of it: {layers}"},
      {"build.tactics_timed", Build, true,
       "{timed|tactic was/tactics were} timed for {layer}, and {skipped} skipped; the fastest took {ms|time}: "
       "{fastest}"},
      {"build.type_set", Build, true, "TensorRT was instructed to calculate {layer} in {type}"},
      {"build.types_ignored", Build, false,
       "no kernel for {layer} obeys the types that were asked for; TensorRT chose the fastest one"},
      {"build.split_obeyed", Build, true, "no kernel of {compiler} is on both sides of the split after it"},
      {"build.split_ignored", Build, false,
       "a split was asked for after it, and {compiler} calculates it and {reader} in one kernel, {kernel}"},
      {"build.split_not_disclosed", Build, false,
       "{compiler} does not report whether one of its kernels is on both sides of the split after it"},
      {"build.body_pin_not_disclosed", Build, false,
       "{asked} was asked for it, and {compiler} does not report in which types the nodes of bodies calculate"},
      {"build.output_type_obeyed", Build, true, "{compiler} stores it in {asked}, as was asked"},
      {"build.output_type_ignored", Build, false, "{asked} was asked for it, and {compiler} stores it in {stored}"},
      {"build.output_type_not_disclosed", Build, false,
       "{asked} was asked for it, and {compiler} does not report in which type it stores it, or whether it does"},
      {"build.no_fuse_obeyed", Build, true,
       "no kernel of {compiler} joins a node with what our rule {rule} would join to it"},
      {"build.no_fuse_ignored", Build, false,
       "{compiler} still joins nodes with what our rule {rule} would join to them, in {count|kernel/kernels}: "
       "{kernels}"},
      {"build.pin_obeyed", Build, true, "{compiler} calculates it in {asked}, as was asked"},
      {"build.pin_moved", Build, false,
       "{asked} was asked for it, but a kernel beside the node has this type. {why}{cut}"},
      {"build.pin_not_applied", Build, false, "{compiler} was not asked for {asked}. {why}"},
      {"build.pin_only_preferred", Build, false, "{asked} was only preferred, and need not be obeyed. {why}"},
      {"build.pin_type_not_enabled", Build, false, "{asked} was not allowed in this build. {why}"},
      {"build.pin_no_tactic", Build, false, "no kernel of {compiler} obeys {asked} here. {why}{cut}"},
      {"build.pin_refused_by_target", Build, false,
       "{asked} was asked for it, but the target does not have this type. {why}"},
      {"build.pin_without_kernel", Build, false,
       "no kernel of {compiler} calculates it, in {asked} or otherwise. {why}"},
      {"build.pin_in_region", Build, false,
       "{asked} was asked for it, but {region} is compiled as a whole. {why}{cut}"},
      {"build.pin_shares_kernel", Build, false,
       "{asked} was asked for it, but its kernel calculates all of its nodes in another type. {why}{cut}"},
      {"build.pin_unexplained", Build, false,
       "{asked} was asked for it, and the compiler does not disclose why it has {granted}. {why}{cut}"},
      {"build.region_attention_wide", Build, true,
       "attention runs as {kernels|kernel/kernels} of {region} in f32; the same network with f16 had one kernel for it "
       "({evidence}): in the network, give the nodes from {scores} to {weighted} the type f16; the Softmax may stay "
       "f32 between Casts"},
      {"build.region_attention_output", Build, true,
       "attention runs as {kernels|kernel/kernels} of {region}: {value} is an output of the network, and without such "
       "an output attention became one kernel in f16 ({evidence})"},
      {"build.region_types_in_network", Build, true,
       "the types of {nodes|node/nodes} in {region} are obeyed if Casts around them write the types into the network, "
       "which is then built as strongly typed ({evidence}): fusescope export --to onnx"},
      {"build.region_cut_product", Build, true,
       "operators after a product in one kernel of {region} became a separate kernel when QuantizeLinear and "
       "DequantizeLinear were inserted between them; Casts, Identity, Reshape or Transpose and back, and an output of "
       "the network between them changed nothing ({evidence})"},
      {"build.region_cut_chain", Build, true,
       "a kernel of {region} without a product was split only by an If whose condition is an input of the network, and "
       "for which the device waits for the host; QuantizeLinear and DequantizeLinear were fused into the kernel "
       "({evidence})"},
      {"build.region_whole", Build, true,
       "{region} is reported as one layer with {nodes|node/nodes}: TensorRT 10 or later lists the kernels in it if the "
       "engine is built with --profilingVerbosity=detailed, and a log of --verbose lists its nodes"},
      {"build.profile_of_another", Build, false,
       "{unmatched} of the {rows} rows of the profile belong to no layer of this engine, for example because it was "
       "measured on another build; {left_out} are ignored"},
      {"build.log_of_another", Build, false,
       "{file} is the log of another build: of {layers|layer/layers} outside regions, {unmatched} are only in the log "
       "or only in the layer information; the log is ignored"},
      {"build.log_of_another_network", Build, false,
       "{file} is the log of a build of another network: {unmatched} of its {nodes|node/nodes} are not in this "
       "network; the log is ignored"},
      {"build.plan_made_anew", Build, false,
       "the plan was saved in version {version} of the format, by other rules, and {parts} differ; it is made again "
       "from its options, by the rules of this version of Fusescope"},
  });
  return kCatalogue;
}

}  // namespace fusescope
