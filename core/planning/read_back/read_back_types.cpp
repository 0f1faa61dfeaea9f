// The types that values of a read-back plan have in memory.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/graph.h"
#include "planning/read_back/read_back_builder.h"

namespace fusescope {

/// The stored type of a value is that which the kernels that make it report. If the compiler made no kernel for its
/// producer, it is what a kernel that writes it reports, or else one that reads it. If none does, the type is unknown,
/// because it may differ from the type that was asked for.
void ReadBackBuilder::storeTypes() {
  m_made->storedTypes.assign(m_graph.valueIdLimit(), DataType::Undefined);
  for (const ValueId value : m_graph.allValues()) {
    const NodeId producer = m_graph.value(value).producer;
    if (!producer.valid() || isOurs(producer)) m_made->storedTypes[value.index] = m_asked.storedType(value);
  }
  for (const FusedNode& fused : m_made->fusedNodes)
    for (const KernelValue& output : m_made->kernels[fused.id.index].outputs) {
      const NodeId producer = output.value.valid() ? m_graph.value(output.value).producer : NodeId();
      if (producer.valid() && std::ranges::binary_search(m_made->kernelsOf(producer), fused.id)) storeAs(output);
    }
  for (const auto values : {&ReadBackPlan::Kernel::outputs, &ReadBackPlan::Kernel::inputs})
    for (const ReadBackPlan::Kernel& kernel : m_made->kernels)
      for (const KernelValue& value : kernel.*values) {
        const NodeId producer = value.value.valid() ? m_graph.value(value.value).producer : NodeId();
        if (producer.valid() && m_made->kernelsOf(producer).empty()) storeAs(value);
      }
  if (m_readBack.placement) storeBindings();
}

/// An engine that was built elsewhere has its own types of inputs and outputs: the first kernel that reads an input
/// reads the type that is passed in, and the last that writes an output writes the type that is passed out. If no type
/// is reported, it is the network's.
void ReadBackBuilder::storeBindings() {
  std::unordered_set<ValueId> known;
  for (const ReadBackKernel& kernel : m_readBack.kernels)
    for (const KernelValue& input : kernel.inputs)
      if (input.value.valid() && m_graph.isInput(input.value) && known.insert(input.value).second) bindAs(input);
  for (const ReadBackKernel& kernel : m_readBack.kernels)
    for (const KernelValue& output : kernel.outputs)
      if (output.value.valid() && m_graph.isOutput(output.value)) bindAs(output);
}

void ReadBackBuilder::bindAs(const KernelValue& value) {
  if (value.type != DataType::Undefined) m_made->storedTypes[value.value.index] = value.type;
}

/// The first report is used.
void ReadBackBuilder::storeAs(const KernelValue& value) {
  DataType& stored = m_made->storedTypes[value.value.index];
  if (stored == DataType::Undefined) stored = value.type;
}

/// For a kernel that is as planned, the types are known.
void ReadBackBuilder::typeValues() {
  for (FusedNode& fused : m_made->fusedNodes) {
    const ReadBackPlan::Kernel& kernel = m_made->kernels[fused.id.index];
    if (fused.reads.size() == fused.inputs.size() && !fused.inputs.empty()) continue;  // as planned
    fused.reads.clear();
    std::unordered_map<ValueId, DataType> read, written;
    for (const KernelValue& input : kernel.inputs) read.emplace(input.value, input.type);
    for (const KernelValue& output : kernel.outputs) written.emplace(output.value, output.type);
    const auto orStored = [&](DataType reported, ValueId value) {
      return reported == DataType::Undefined ? m_made->storedType(value) : reported;
    };
    for (const ValueId input : fused.inputs) fused.reads.push_back(orStored(read.at(input), input));
    for (FusedOutput& output : fused.outputs) output.type = orStored(written.at(output.value), output.value);
    for (InnerEdge& edge : fused.innerEdges)
      if (edge.real) edge.type = orStored(written.at(edge.value), edge.value);
  }
}

}  // namespace fusescope
