#include "ir/decision.h"

namespace fusescope {

// Every reason code, in the order of the pipeline. "{argument}" is filled in from Decision::arguments.
// Codes are stable: files hold them and users filter by them.
const std::vector<DecisionCode>& decisionCatalogue() {
  using enum DecisionKind;
  static const std::vector<DecisionCode> kCatalogue{
      // import
      {"import.input_assumed", Import, true, "{input} has no fixed extents in the file; {assumed} is assumed"},
      {"import.function_inlined", Import, true, "calls the function {function}; its {nodes} nodes stand in its place"},
      {"import.attribute_dropped", Import, true,
       "its attribute {attribute} is of a kind that is not read; it is left out"},
      {"import.newer_opset", Import, true,
       "the file uses opset {opset} of ai.onnx; operators are read as opset {known} knows them"},
      // normalise
      {"normalise.constant_node", Normalise, true, "is a constant; its value is used directly"},
      {"normalise.identity_removed", Normalise, true, "does nothing; what reads its output reads its input"},
      {"normalise.dropout_removed", Normalise, true,
       "drops nothing outside training; what reads its output reads its input"},
      {"normalise.extents_known", Normalise, true, "asks for extents that are known; the answer is a constant"},
      {"normalise.branch_taken", Normalise, true,
       "its condition is always {condition}; the {nodes} nodes of its {branch} stand in its place"},
      {"normalise.folded", Normalise, true, "depends on constants alone; its result is a constant"},
      {"normalise.noop_removed", Normalise, true, "{op} leaves {type} as it is; what reads its output reads its input"},
      {"normalise.dequantize_copied", Normalise, true,
       "is done once for each of {readers} readers, so that each kernel reads the integers"},
      {"normalise.dead", Normalise, true, "no output of the network depends on it"},
      // infer
      // input
      // truncate
      {"truncate.input", Truncate, true,
       "input {value} is narrowed from {from} to {to} where an accelerated segment reads it"},
      {"truncate.constant", Truncate, true, "constant {value} is narrowed from {from} to {to}: every element survives"},
      {"truncate.constant_saturates", Truncate, true,
       "constant {value} is narrowed from {from} to {to}: {element} does not survive, but {consumer} takes any number "
       "that large as no limit"},
      {"truncate.produced", Truncate, true, "{value} is produced as {to} instead of {from}"},
      {"truncate.constant_out_of_range", Truncate, false,
       "constant {value} stays {from}: {element} does not survive as {to}"},
      {"truncate.constant_without_data", Truncate, false,
       "constant {value} stays {from}: the model holds no data to prove that it survives as {to}"},
      {"truncate.not_chosen", Truncate, false,
       "{value} stays {from}, which {target} lacks: truncation of {from} was not chosen (--truncate {mode} "
       "narrows it wherever a segment can take it)"},
      {"truncate.mode", Truncate, true, "truncation mode {mode} was asked for; {values} values are narrowed"},
      // validate
      {"validate.supported", Validate, true, "{target} supports {op} at these types"},
      {"validate.supported_with_condition", Validate, true, "{target} supports {op}, provided that {condition}"},
      {"validate.supported_with_caveat", Validate, true, "{target} supports {op}, but {caveat}"},
      {"validate.no_kernel", Validate, false, "no kernel for {op} exists yet"},
      {"validate.reference_only", Validate, false,
       "the {backend} backend has no kernel for {op}; the reference runs it"},
      {"validate.operator_not_supported", Validate, false, "the ONNX parser of {target} does not know {op}{hint}"},
      {"validate.unknown_for_version", Validate, false,
       "whether {target} knows {op} is not known: the newest list of its operators at hand, of {version}, does not "
       "name "
       "it{hint}"},
      {"validate.type_not_supported", Validate, false,
       "{target} does not support {op} at {type} (value {value}){mend}"},
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
      {"validate.body_not_supported", Validate, false, "{target} cannot run {op}: of {path}, {reason}"},
      {"validate.needs_truncation", Validate, false,
       "{target} lacks {type} (value {value}); --truncate {mode} would make {op} supported"},
      {"validate.constant_not_truncated", Validate, false, "{target} lacks {type}, and constant {value} {why}"},
      // partition
      {"partition.supported", Partition, true, "runs in {segment}"},
      {"partition.forced_fallback", Partition, false, "a directive sends it to fallback"},
      {"partition.nothing_to_fall_back", Partition, true, "there is nothing to send to fallback: {became}"},
      {"partition.not_supported", Partition, false, "falls back: {target} cannot run it"},
      {"partition.too_small", Partition, false,
       "is supported, but its segment has {nodes} of the {minimum} nodes asked for"},
      {"partition.would_cycle", Partition, false,
       "the segment of {consumer} cannot join that of {producer}: a path leaves through {through} and comes back"},
      {"partition.min_segment", Partition, true,
       "segments have at least {minimum} nodes; {lost} nodes fell back for it"},
      // fuse
      {"fuse.merged", Fuse, true, "runs as one {kind} kernel (rule {rule})"},
      {"fuse.predicted", Fuse, true,
       "{target} is expected to run it as one {kind} kernel (rule {rule}); only an engine's own layer information can "
       "tell"},
      {"fuse.single", Fuse, true, "runs alone as {kind}"},
      {"fuse.split", Fuse, false, "{producer} and {consumer} stay apart: a split was asked for after {node}"},
      {"fuse.split_honoured", Fuse, true, "nothing fuses across its output"},
      {"fuse.nothing_to_keep_apart", Fuse, true, "there is nothing to keep apart: {became}"},
      {"fuse.no_fuse", Fuse, false, "rule {rule} was told to leave {node} alone"},
      {"fuse.no_fuse_honoured", Fuse, true, "rule {rule} is switched off for {nodes} nodes"},
      {"fuse.precision_differs", Fuse, false,
       "{producer} computes in {producer_type} and {consumer} in {consumer_type}, and a {kind} kernel has one type for "
       "both"},
      {"fuse.output_type_pinned", Fuse, false,
       "{producer} and {consumer} stay apart: the output of {node} has a pinned type and must stand in memory"},
      {"fuse.inner_value_used_outside", Fuse, false,
       "{value} is also used by {user}, and a {kind} kernel cannot deliver an inner value"},
      {"fuse.model_output_inside", Fuse, false,
       "{value} is an output of the network, and a {kind} kernel cannot deliver an inner value"},
      {"fuse.would_cycle", Fuse, false,
       "{producer} and {consumer} cannot join: a path leaves through {through} and comes back"},
      {"fuse.shape_differs", Fuse, false,
       "{producer} and {consumer} have different extents; fusing would compute elements again"},
      {"fuse.shape_unknown", Fuse, false,
       "the extents of {value} are not known, so {producer} and {consumer} cannot be proved to fit"},
      {"fuse.other_segment", Fuse, false, "{producer} and {consumer} are in different segments"},
      {"fuse.fallback_segment", Fuse, false, "{segment} is fallback: each of its nodes runs alone"},
      {"fuse.producer_not_fusible", Fuse, false, "{producer} ({op}) takes no {consumer_kind} into its kernel"},
      {"fuse.epilogue_operand", Fuse, false,
       "{consumer} cannot follow {producer}: operand {value} does not broadcast to its output"},
      {"fuse.layout_would_be_fixed", Fuse, false,
       "{consumer} would force {producer} to leave its output in plain layout"},
      {"fuse.pattern_incomplete", Fuse, false, "looks like {kind}, but {what}"},
      // precision
      {"precision.default", Precision, true, "computes in {type}"},
      {"precision.lowered", Precision, true, "computes in {type}, as --precision asks"},
      {"precision.measured", Precision, true,
       "computes in {type}: kernels and conversions together are fastest so, by what was measured and fitted"},
      {"precision.not_measured", Precision, true,
       "stays {type}: nothing was measured that shows another type to be faster"},
      {"precision.search_bounded", Precision, true,
       "of {types} types f32 was compared with each of the others alone; mixing more than two of them was not tried"},
      {"precision.not_float", Precision, true, "computes no floats; precision does not apply"},
      {"precision.lowered_by_edit", Precision, true,
       "computes in {type}, as --precision asks, by an edit of the network, whose types decide: {edit}"},
      {"precision.moved", Precision, true, "moves elements and leaves them as {type}"},
      {"precision.author", Precision, true, "keeps {type}, which its author chose: {author}"},
      {"precision.quantised", Precision, true,
       "multiplies the {type} integers that it reads, as the network is quantised"},
      {"precision.fallback", Precision, true, "runs in fallback and keeps {type}"},
      {"precision.type_kept", Precision, true, "keeps {type}: {target} computes it in no other type"},
      {"precision.pin_granted", Precision, true, "computes in {type}, as pinned"},
      {"precision.pin_by_edit", Precision, true,
       "the pin to {type} is honoured by an edit of the network, whose types decide: {edit}"},
      {"precision.nothing_to_pin", Precision, true, "there is nothing to pin: {became}"},
      {"precision.pin_refused", Precision, false, "cannot compute in {type}, though the pin says obey: {why}"},
      {"precision.pin_not_honoured", Precision, false, "does not compute in {type}, as the pin prefers: {why}"},
      {"precision.output_granted", Precision, true, "leaves its output as {type}, as pinned"},
      {"precision.output_inner", Precision, true,
       "{value} would be stored as {type}, but it is held as {held} and never stored; obey makes it stand in memory"},
      {"precision.output_refused", Precision, false,
       "cannot leave its output as {type}, though the directive says obey: {why}"},
      {"precision.output_not_honoured", Precision, false,
       "does not leave its output as {type}, as the directive prefers: {why}"},
      {"precision.overridden", Precision, false, "directive {directive} is overridden: {in_force} {why}"},
      {"precision.pin_free", Precision, true, "the pin to {type} holds for free: {because}"},
      {"precision.pin_price", Precision, true,
       "the pin to {type} holds at a price: operators that calculate in another type for it: {retyped}; kernels taken "
       "apart: {lost}; kernels more: {kernels}; casts more: {casts}; bytes moved more: {bytes}"},
      {"precision.pins_together", Precision, true,
       "all {pins} pins together: kernels taken apart: {lost}; kernels more: {kernels}; casts more: {casts}; bytes "
       "moved "
       "more: {bytes}; of these they share {shared_kernels} kernels, {shared_casts} casts and {shared_bytes} bytes"},
      {"precision.index_lowered", Precision, false,
       "becomes an index of {index_of} and is calculated in {type}, which holds integers exactly up to {limit} only"},
      // tactic
      {"tactic.requested", Tactic, true, "the build is asked for tactic {tactic}"},
      {"tactic.nothing_to_run", Tactic, true, "there is nothing to run with another tactic: {became}"},
      {"tactic.pinned", Tactic, true, "runs with {tactic}, as asked"},
      {"tactic.unknown", Tactic, false,
       "cannot run with {tactic}: there is no such tactic for it here; the nearest are {nearest}"},
      {"tactic.missing", Tactic, false,
       "was built with {tactic}, which this machine does not have; {nearest} takes its place"},
      {"tactic.workspace", Tactic, false,
       "does not run with {tactic}: it needs {bytes} bytes of scratch memory, and the workspace allows {limit}"},
      {"tactic.dynamic", Tactic, true, "is prepared while it runs, not ahead of time: {reason}"},
      // cache
      {"cache.same_structure", Cache, true, "has the structure of {first}: measured once, with its own weights"},
      {"cache.damaged", Cache, true,
       "the timing cache {file} was damaged; it was moved to {moved_to} and a new one begun"},
      {"cache.unavailable", Cache, false,
       "the timing cache {file} cannot be used: {problem}; every tactic is measured again"},
      // build
      {"build.replanned", Build, false,
       "the engine was built by Fusescope {version} with other {parts}; it is planned anew by the rules of this one, "
       "and "
       "need not be as fast as it was"},
      {"build.plan_made_anew", Build, false,
       "the plan was saved in version {version} of the format, with other {parts}; it is made anew, from its options, "
       "by "
       "the rules of this Fusescope"},
  };
  return kCatalogue;
}

}  // namespace fusescope
