#include "backends/native/lowering/context.h"

#include <algorithm>

#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/lowering/tape_nodes.h"
#include "backends/native/steps/pointwise_step.h"

namespace fusescope::native {
namespace {

/// Returns the format in which a tape works: that of an operand of full size whose channels fill whole blocks, or plain
/// if there is none.
MemoryFormat tapeFormat(const std::vector<Ref>& inputs, const Dims& domain) {
  for (const Ref& ref : inputs) {
    if (!ref.format.isPlain() && ref.dims == domain && ref.format.padded(domain) == domain) return ref.format;
  }
  return MemoryFormat();
}

}  // namespace

void Context::queue(NodeId root, ScaledSums sums) {
  m_sums.emplace(root, std::move(sums));
  m_waiting.push_back(root);
}

bool Context::isMissing(ValueId value) const {
  return value.valid() && !isDefined(value) && !isConstant(value);
}

Status Context::flushFor(const std::vector<ValueId>& values) {
  const bool isNeeded = std::ranges::any_of(values, [&](ValueId value) { return isMissing(value); });
  return isNeeded ? flush() : Status(Done{});
}

bool Context::leaves(ValueId value, const std::set<NodeId>& group) const {
  const std::vector<NodeId> users = readers(value);
  return isFusedOutput(value) || users.empty() ||
         std::ranges::any_of(users, [&](NodeId user) { return !group.contains(user); });
}

Status Context::flush() {
  std::vector<NodeId> nodes;
  nodes.swap(m_waiting);
  if (nodes.empty()) return Done{};
  const std::set<NodeId> group(nodes.begin(), nodes.end());
  std::optional<Dims> domain;
  bool one = true;
  for (NodeId id : nodes) {
    const ValueId value = node(id).outputs[0];
    if (!leaves(value, group)) continue;
    one = one && (!domain || *domain == dimsOf(value));
    domain = dimsOf(value);
  }
  if (one) return emitTape(nodes);
  for (NodeId id : nodes) TRY(emitTape({id}));
  return Done{};
}

TapeBuilder Context::builderOf(const std::vector<NodeId>& nodes) const {
  const auto number = [this](ValueId value) {
    return isTapeType(typeOf(value)) || isByteInteger(typeOf(value)) ? constantNumber(value) : std::nullopt;
  };
  TapeBuilder builder(
      number, [this](ValueId value) { return dimsOf(value).size(); }, [this](ValueId value) { return typeOf(value); });
  for (NodeId id : nodes) {
    const ValueId value = node(id).outputs[0];
    if (const auto sums = m_sums.find(id); sums != m_sums.end()) {
      builder.addScaledSums(node(id), sums->second.bias.has_value());
    } else {
      builder.add(node(id), typeOf(value));
    }
    if (isNarrow(rounding().rounds(value))) builder.round(value, rounding().rounds(value));
  }
  return builder;
}

Status Context::emitTape(const std::vector<NodeId>& nodes) {
  const std::set<NodeId> group(nodes.begin(), nodes.end());
  TapeBuilder builder = builderOf(nodes);
  std::vector<ValueId> results;
  for (NodeId id : nodes)
    if (leaves(node(id).outputs[0], group)) results.push_back(node(id).outputs[0]);
  const Dims domain = dimsOf(results[0]);
  TapeProgram tape;
  builder.finish(tape, results);
  std::vector<Ref> inputs;
  for (const TapeBuilder::Input& input : builder.inputs()) {
    inputs.push_back(TRY(tapeInput(input)));
    inputs.back().dims.insert(inputs.back().dims.end(), input.trailing, 1);
    inputs.back().strides.insert(inputs.back().strides.end(), input.trailing, 0);
  }
  const MemoryFormat format = tapeFormat(inputs, domain);
  tape.extents = format.memoryExtents(domain);
  std::vector<BufferIndex> reads, writes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool whole = inputs[i].dims == domain;
    const bool sameFormat = whole && !format.isPlain();
    const bool isStrided = !sameFormat && inputs[i].format.isPlain();
    Ref input = isStrided ? inputs[i] : TRY(inFormat(inputs[i], sameFormat ? format : MemoryFormat()));
    const Dims strides =
        input.format.isPlain() ? format.memoryStrides(broadcastStrides(input, domain)) : rowMajorStrides(tape.extents);
    reads.push_back(input.buffer);
    tape.inputs.push_back({std::move(input), strides, builder.inputs()[i].reg});
  }
  for (ValueId value : results) {
    Ref output = allocate(value, format, storedType(value));
    define(value, output);
    writes.push_back(output.buffer);
    tape.outputs.push_back({std::move(output), rowMajorStrides(tape.extents), builder.registerOf(value)});
  }
  chose({.kind = kPointwiseKernel});
  program().addStep(makePointwiseStep(std::move(tape), threads()), reads, writes);
  return Done{};
}

Result<Ref> Context::tapeInput(const TapeBuilder::Input& input) {
  using Part = TapeBuilder::Input::Part;
  switch (input.part) {
    case Part::Factor:
    case Part::Shift:
      return packedRef({dimsOf(node(input.norm).input(0))[1]},
                       batchNormPacking(*this, node(input.norm), input.part == Part::Shift));
    case Part::Sums:
      return m_sums.at(input.norm).sums;
    case Part::SumScale:
      return m_sums.at(input.norm).scale;
    case Part::SumBias:
      return *m_sums.at(input.norm).bias;
    default:
      return seen(input.value);
  }
}

}  // namespace fusescope::native
