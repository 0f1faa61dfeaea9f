#include "backends/native/lowering.h"

#include <algorithm>

#include "backends/native/narrow_floats.h"
#include "backends/native/onednn.h"
#include "backends/native/reference_step.h"
#include "ops/exact_types.h"
#include "planning/fusion/match.h"

namespace fusescope::native {
namespace {

/// Whether what the node does depends on the very type of a narrow float that it reads, while a program holds f32.
/// What is calculated of constants alone reads them as they are.
bool insistsOnNarrow(const Graph& graph, const Node& node) {
  if (!needsExactTypes(node) && !hasBody(node)) return false;
  const std::vector<ValueId> read = operands(node);
  const auto isGiven = [&](ValueId value) { return !value.valid() || graph.isConstant(value); };
  return !std::ranges::all_of(read, isGiven) && std::ranges::any_of(read, [&](ValueId value) {
    return value.valid() && isNarrow(graph.value(value).type.dtype);
  });
}

/// Elements of a whole number of bytes, in types that programs know.
bool isAddressable(DataType type) {
  return !isPacked(type) && type != DataType::String && type != DataType::C64 && type != DataType::C128;
}

}  // namespace

Lowering::Lowering(const KernelRequest& request, LoweringOptions options)
    : m_request(request),
      m_graph(request.plan->graph()),
      m_fused(*request.fused),
      m_kept(keptType(request)),
      m_rounding(request),
      m_options(std::move(options)),
      m_threads(std::max(1, request.threads)),
      m_program(m_fused.inputs.size(), m_fused.outputs.size()),
      m_members(m_fused.nodes.begin(), m_fused.nodes.end()),
      m_extents(fusescope::extentsOf(request)) {
  const auto place = [&](ValueId value, ExtentsOf::Of of, std::size_t at) { m_places[value] = {.of = of, .at = at}; };
  const std::vector<ValueId> inner = innerValues(request);
  for (std::size_t i = 0; i < inner.size(); ++i) place(inner[i], ExtentsOf::Of::Inner, i);
  for (std::size_t i = 0; i < m_fused.outputs.size(); ++i) {
    m_outputIndex[m_fused.outputs[i].value] = i;
    place(m_fused.outputs[i].value, ExtentsOf::Of::Output, i);
  }
  for (std::size_t i = 0; i < m_fused.inputs.size(); ++i) place(m_fused.inputs[i], ExtentsOf::Of::Input, i);
  for (std::size_t i = 0; i < request.weightSlots.size(); ++i) m_slots[request.weightSlots[i]] = i;
}

DataType Lowering::keptType(const KernelRequest& request) {
  const Graph& graph = request.plan->graph();
  const FusedNode& fused = *request.fused;
  if (!std::ranges::all_of(fused.nodes, [&](NodeId id) { return onlyMoves(graph.node(id)); }))
    return DataType::Undefined;
  std::set<DataType> floats;
  const auto note = [&](DataType type) {
    if (isFloat(type)) floats.insert(type);
  };
  for (const ValueId input : fused.inputs) note(request.values.at(input).dtype);
  for (const FusedOutput& output : fused.outputs) note(request.values.at(output.value).dtype);
  for (const InnerEdge& edge : fused.innerEdges)
    if (edge.real) note(edge.type);
  for (const auto& [value, tensor] : request.constants) note(tensor.type());
  return floats.size() == 1 ? *floats.begin() : DataType::Undefined;
}

bool Lowering::canLower(const KernelRequest& request) {
  const Graph& graph = request.plan->graph();
  const FusedNode& fused = *request.fused;
  const auto lies = [&](ValueId value) { return isAddressable(request.values.at(value).dtype); };
  if (!std::ranges::all_of(fused.inputs, lies)) return false;
  if (!std::ranges::all_of(fused.outputs, lies, &FusedOutput::value)) return false;
  if (keptType(request) != DataType::Undefined) return true;
  const auto isKnown = [](DataType type) { return !isFloat(type) || type == DataType::F32 || isNarrow(type); };
  const auto isHeld = [&](ValueId value) { return isKnown(request.values.at(value).dtype); };
  const auto calculates = [&](NodeId id) {
    return isKnown(request.plan->calculates[id.index]) || !request.plan->readsMemory(id);
  };
  return std::ranges::all_of(fused.inputs, isHeld) && std::ranges::all_of(fused.outputs, isHeld, &FusedOutput::value) &&
         std::ranges::all_of(fused.innerEdges,
                             [&](const InnerEdge& edge) { return !edge.real || isKnown(edge.type); }) &&
         std::ranges::all_of(fused.nodes, calculates) &&
         std::ranges::none_of(fused.nodes, [&](NodeId id) { return insistsOnNarrow(graph, graph.node(id)); });
}

Status Lowering::bindInputs() {
  for (std::size_t i = 0; i < m_fused.inputs.size(); ++i) {
    const ValueId value = m_fused.inputs[i];
    Ref ref{.buffer = m_program.input(i),
            .dtype = desc(value).dtype,
            .dims = desc(value).dims,
            .format = m_options.inputFormats[i]};
    if (ref.format.isPlain()) ref.strides = rowMajorStrides(ref.dims);
    if (isNarrow(ref.dtype)) m_wholes[ref.buffer] = ref;
    if (!isNarrow(ref.dtype) && ref.dtype != typeOf(value)) {
      const Ref wide = allocateScratch(typeOf(value), ref.dims);
      TRY(convertType(ref, wide));
      ref = wide;
    } else if (ref.format.isPlain()) {
      ref.isWhole = true;
      m_origins.emplace(value, ViewOrigin{.operand = ref, .whole = extentsOf(value)});
    }
    define(value, ref);
  }
  return Done{};
}

bool Lowering::waits(const std::vector<ValueId>& values) const {
  return std::ranges::any_of(values,
                             [&](ValueId value) { return value.valid() && !isDefined(value) && !isConstant(value); });
}

Status Lowering::lowerNodes() {
  if (m_options.fuse && m_rounding.differs()) foldNumbers();
  if (!isUnfused()) findMacros();
  for (NodeId id : m_fused.nodes) {
    if (m_absorbed.contains(id)) continue;
    m_reader = id;
    if (TRY(passHeldCodes(node(id)))) continue;
    if (m_attention && m_attention->scales.contains(id)) {
      const ValueId scaled = m_attention->scales.at(id);
      if (waits({scaled})) TRY(flushPointwise());
      TRY(defineSame(node(id).outputs[0], scaled));
      continue;
    }
    if (m_attention && m_attention->last == id) {
      TRY(flushPointwise());
      TRY(lowerAttention(*m_attention));
      continue;
    }
    if (!m_parallel.empty() && m_parallel.front().root == id) {
      TRY(flushPointwise());
      TRY(lowerParallelProducts(m_parallel));
      continue;
    }
    if (m_norm && m_norm->last == id) {
      TRY(flushPointwise());
      TRY(emitNorm(*m_norm));
      continue;
    }
    if (const auto it = m_quantized.find(id); it != m_quantized.end()) {
      TRY(flushPointwise());
      TRY(lowerQuantized(it->second));
      continue;
    }
    if (const auto it = m_chains.find(id); it != m_chains.end()) {
      TRY(flushPointwise());
      TRY(node(it->second.root).is("MatMul") || node(it->second.root).is("Gemm") ? lowerMatMul(it->second)
                                                                                 : lowerConv(it->second));
      continue;
    }
    const bool rounds = m_rounding.rounds(node(id).outputs.front()) != DataType::Undefined;
    if (isFloatCast(m_graph, node(id)) && isDefined(node(id).input(0)) && !rounds) {  // floats are f32 here
      TRY(defineSame(node(id).outputs[0], node(id).input(0)));
      continue;
    }
    if (isPointwise(node(id))) {
      m_pending.push_back(id);
      if (isUnfused()) TRY(flushPointwise());
      continue;
    }
    if (waits(node(id).inputs)) TRY(flushPointwise());
    TRY(lowerNode(node(id)));
  }
  return flushPointwise();
}

Status Lowering::lowerNode(const Node& node) {
  if (TRY(lowerRecurrence(node))) return Done{};
  if (node.domain.empty()) {
    if (TRY(lowerView(node))) return Done{};
    if (node.is("Conv") || node.is("ConvTranspose")) {
      return lowerConv({.root = node.id, .nodes = {node.id}, .result = node.outputs[0]});
    }
    if (node.is("MatMul") || node.is("Gemm")) {
      return lowerMatMul({.root = node.id, .nodes = {node.id}, .result = node.outputs[0]});
    }
    for (const auto take :
         {&Lowering::lowerAttentionNode, &Lowering::lowerRows, &Lowering::lowerReduce, &Lowering::lowerPool,
          &Lowering::lowerMovement, &Lowering::lowerInteger, &Lowering::lowerNorm, &Lowering::lowerGatherNd,
          &Lowering::lowerResize, &Lowering::lowerRoiAlign, &Lowering::lowerTopK, &Lowering::lowerBytes})
      if (TRY((this->*take)(node))) return Done{};
  }
  return lowerReference(node);
}

Status Lowering::lowerReference(const Node& node) {
  ReferenceCall call{.node = node, .inputs = {}, .outputs = {}};
  std::vector<BufferIndex> reads, writes;
  for (ValueId input : operands(node)) {
    if (!input.valid()) {
      call.inputs.push_back(std::nullopt);
      continue;
    }
    const Ref source = TRY(plain(TRY(ref(input))));
    reads.push_back(source.buffer);
    call.inputs.push_back(source);
  }
  for (ValueId output : node.outputs) {
    if (!output.valid() || !m_request.values.contains(output)) {
      call.outputs.push_back(std::nullopt);
      continue;
    }
    const Ref target = allocate(output);
    define(output, target);
    writes.push_back(target.buffer);
    call.outputs.push_back(target);
  }
  m_implementations.push_back(node.op + ":reference");
  m_program.addStep(makeReferenceStep(std::move(call)), reads, writes);
  return Done{};
}

Status Lowering::finishOutput(std::size_t index) {
  const ValueId value = m_fused.outputs[index].value;
  const MemoryFormat format = m_options.outputFormats[index];
  Ref target{.buffer = m_program.output(index), .dtype = desc(value).dtype, .dims = desc(value).dims, .format = format};
  if (format.isPlain()) target.strides = rowMajorStrides(target.dims);
  Ref source = TRY(held(value));
  if (source.buffer == target.buffer && source.offset == 0 && source.format == format && source.dtype == target.dtype &&
      (!format.isPlain() || source.contiguous())) {
    return Done{};
  }
  if (source.dtype != target.dtype) {
    if (format.isPlain() || format == source.format) return convertType(source, target);
    const Ref narrow = allocateScratch(target.dtype, target.dims);
    TRY(convertType(source, narrow));
    source = narrow;
  }
  if (format.isPlain() && !source.format.isPlain() && formatIsMoot(source))
    source = TRY(inFormat(source, MemoryFormat()));
  if (source.format.isPlain() && format.isPlain()) {
    copyStrided(source, target);
    return Done{};
  }
  if (source.format.isPlain()) source = TRY(plain(source));
  return reorder(source, target);
}

Status Lowering::finishOutputs() {
  for (std::size_t i = 0; i < m_fused.outputs.size(); ++i) TRY(finishOutput(i));
  return Done{};
}

Result<std::unique_ptr<const Code>> Lowering::lower() {
  TRY(bindInputs());
  foldConstants();
  TRY(lowerNodes());
  TRY(finishOutputs());
  return m_program.finish({m_embedded.begin(), m_embedded.end()});
}

}  // namespace fusescope::native
