#include "backends/native/lowering.h"

#include <algorithm>

#include "backends/native/onednn.h"
#include "backends/native/reference_step.h"
#include "planning/fusion/match.h"

namespace fusescope::native {
namespace {

bool isNarrowFloat(DataType type) {
  return isFloat(type) && type != DataType::F32;
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
      m_options(std::move(options)),
      m_threads(std::max(1, request.threads)),
      m_program(m_fused.inputs.size(), m_fused.outputs.size()),
      m_members(m_fused.nodes.begin(), m_fused.nodes.end()),
      m_extents(fusescope::extentsOf(request)),
      m_onlyMoves(std::ranges::all_of(m_fused.nodes, [&](NodeId id) { return onlyMoves(node(id)); })) {
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

bool Lowering::canLower(const KernelRequest& request) {
  const Graph& graph = request.plan->graph();
  const FusedNode& fused = *request.fused;
  const bool moves =
      std::all_of(fused.nodes.begin(), fused.nodes.end(), [&](NodeId id) { return onlyMoves(graph.node(id)); });
  std::set<DataType> narrow;
  bool edgesAreWide = true;
  const auto lies = [&](ValueId value) {
    const DataType type = request.values.at(value).dtype;
    if (isNarrowFloat(type)) narrow.insert(type);
    return isAddressable(type);
  };
  for (const ValueId input : fused.inputs)
    if (!lies(input)) return false;
  for (const FusedOutput& output : fused.outputs)
    if (!lies(output.value)) return false;
  for (const InnerEdge& edge : fused.innerEdges) {
    if (edge.real && isNarrowFloat(edge.type)) edgesAreWide = false;
  }
  if (moves) {
    for (const auto& [id, tensor] : request.constants) {
      if (isNarrowFloat(tensor.type())) narrow.insert(tensor.type());
    }
    const DataType first = fused.inputs.empty() ? DataType::Undefined : request.values.at(fused.inputs[0]).dtype;
    const bool oneType = std::all_of(fused.outputs.begin(), fused.outputs.end(), [&](const FusedOutput& output) {
      return request.values.at(output.value).dtype == first;
    });
    if (oneType && edgesAreWide && narrow.size() <= 1 && (narrow.empty() || narrow.contains(first))) return true;
  }
  const bool calculatesNarrow = std::ranges::any_of(fused.nodes, [&](NodeId id) {
    return isNarrowFloat(request.plan->calculates[id.index]) && request.plan->readsMemory(id);
  });
  if (calculatesNarrow || !edgesAreWide) return false;
  return std::all_of(narrow.begin(), narrow.end(),
                     [](DataType type) { return type == DataType::F16 || type == DataType::BF16; });
}

Status Lowering::bindInputs() {
  for (std::size_t i = 0; i < m_fused.inputs.size(); ++i) {
    const ValueId value = m_fused.inputs[i];
    Ref ref{.buffer = m_program.input(i),
            .dtype = desc(value).dtype,
            .dims = desc(value).dims,
            .format = m_options.inputFormats[i]};
    if (ref.format.isPlain()) ref.strides = rowMajorStrides(ref.dims);
    if (ref.dtype != typeOf(value)) {
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
  if (m_options.fuse) findMacros();
  for (NodeId id : m_fused.nodes) {
    if (m_absorbed.contains(id)) continue;
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
    if (const auto it = m_chains.find(id); it != m_chains.end()) {
      TRY(flushPointwise());
      TRY(node(it->second.root).is("MatMul") || node(it->second.root).is("Gemm") ? lowerMatMul(it->second)
                                                                                 : lowerConv(it->second));
      continue;
    }
    if (isFloatCast(m_graph, node(id)) && isDefined(node(id).input(0))) {  // floats are f32 here
      TRY(defineSame(node(id).outputs[0], node(id).input(0)));
      continue;
    }
    if (isPointwise(node(id))) {
      m_pending.push_back(id);
      if (!m_options.fuse) TRY(flushPointwise());
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
  Ref source = TRY(ref(value));
  if (source.buffer == target.buffer && source.offset == 0 && source.format == format && source.dtype == target.dtype &&
      (!format.isPlain() || source.contiguous())) {
    return Done{};
  }
  if (source.dtype != target.dtype) {
    if (format.isPlain()) return convertType(source, target);
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
  return m_program.finish({m_embedded.begin(), m_embedded.end()}, m_extents);
}

}  // namespace fusescope::native
