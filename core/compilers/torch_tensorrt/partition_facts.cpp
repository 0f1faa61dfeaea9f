#include "compilers/torch_tensorrt/partition_facts.h"

#include "base/json_fields.h"
#include "base/untrusted_json.h"

namespace fusescope::torch_tensorrt {
namespace {

/// The probe's names in the order of StaysFor.
const std::vector<std::string_view> kCauses = {"no_converter", "validator",   "open_extents", "complex",
                                               "asked",        "small_block", "unknown"};

Result<InTorch> causeFrom(const Json& json) {
  InTorch cause;
  ComparedList compared;
  JsonFields fields(json);
  fields.require("why").readName("why", kCauses, cause.why);
  fields.read("validators", cause.validators).read("words", cause.words).read("operators", cause.operators);
  fields.read("dilation", compared.dilation).read("else_taken", compared.acceptedWithNumber);
  fields.read("else_words", compared.elseWords);
  if (!compared.dilation.empty()) cause.compared = std::move(compared);
  return fields.result(std::move(cause));
}

Result<LoweredOperator> operatorFrom(const Json& json) {
  LoweredOperator made;
  JsonFields fields(json);
  fields.require("name").read("name", made.name).read("target", made.target).read("from", made.from);
  fields.read("types", made.types).read("reads", made.reads).read("is_view", made.isView);
  fields.parse("cause", made.inTorch, causeFrom);
  return fields.result(std::move(made));
}

Result<BlockInput> blockInputFrom(const Json& json) {
  BlockInput input;
  JsonFields fields(json);
  fields.require("from").read("from", input.from).read("is_input", input.isInput).read("type", input.type);
  fields.read("is_cast", input.isCast);
  return fields.result(std::move(input));
}

Result<PartitionBlock> blockFrom(const Json& json) {
  PartitionBlock block;
  JsonFields fields(json);
  fields.require("name").read("name", block.name).require("is_engine").read("is_engine", block.isEngine);
  fields.parseList("inputs", block.inputs, blockInputFrom).parseList("operators", block.operators, operatorFrom);
  return fields.result(std::move(block));
}

}  // namespace

Result<ProgramPartition> programPartition(std::string_view text) {
  const Json json = untrustedJson(text);
  if (json.is_discarded()) return Diagnostic{.message = "the file that the probe for Torch-TensorRT wrote is not JSON"};
  ProgramPartition partition;
  std::map<std::string, std::string> gone;
  JsonFields fields(json);
  fields.require("total").read("total", partition.total).require("supported").read("supported", partition.supported);
  fields.require("blocks").parseList("blocks", partition.blocks, blockFrom).read("gone", gone);
  for (const auto& [node, why] : gone) {
    const Fate fate = why == "folded" ? Fate::Folded : why == "removed" ? Fate::Removed : Fate::NotDisclosed;
    partition.gone.emplace(node, fate);
  }
  return fields.result(std::move(partition));
}

}  // namespace fusescope::torch_tensorrt
