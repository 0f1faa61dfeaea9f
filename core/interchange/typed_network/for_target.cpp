#include <fmt/format.h>

#include "frontends/onnx/file_tensors.h"
#include "interchange/typed_network/graph_retyper.h"
#include "ops/no_kernel.h"
#include "ops/support/einsum_equation.h"

// What is written otherwise than the author did because the target of the plan, which reads files, would refuse it.

namespace fusescope {

using onnxlib::FileNode;

void GraphRetyper::writeInLowerCase(std::size_t place) {
  const FileNode& node = m_graph.nodes[place];
  const auto* attribute = node.domain.empty() && node.op == "Einsum" ? node.attribute("equation") : nullptr;
  const auto* equation = attribute == nullptr ? nullptr : std::get_if<std::string>(&attribute->value);
  if (equation == nullptr || !m_shared.table.planningOnly || !ops::hasUpperCase(*equation)) return;
  const auto written = ops::inLowerCase(*equation);
  if (!written) return;  // the plan runs it elsewhere
  m_shared.network.edits.attributes.push_back(
      {{m_path, place}, {.name = "equation", .reference = {}, .value = *written}});
  m_shared.network.notes.push_back({fmt::format(
      "the equation of node '{}' is written as '{}', which means the same as '{}', because {} accepts only lower case",
      m_nodeNames[place], *written, *equation, m_shared.table.name)});
}

std::string GraphRetyper::apartFromCast(std::size_t place, std::size_t slot, const std::string& form, DataType from,
                                        DataType to) {
  const FileNode& node = m_graph.nodes[place];
  const OperatorRow* row = m_shared.table.find(operatorText(node.domain, node.op));
  if (row == nullptr || row->apartFromCast != slot || holdsAll(from, to)) return form;
  const std::string zero = m_shared.fresh("zero_" + std::string(name(to)));
  m_shared.network.edits.initializers.push_back({m_path, fileTensor(zero, Tensor::zeros(to, {}))});
  const std::string result = m_shared.fresh(form + "_apart");
  m_shared.network.edits.nodes.push_back(
      {m_path, {.name = result, .op = "Sub", .inputs = {form, zero}, .outputs = {result}}});
  m_shared.network.notes.push_back(
      {fmt::format("node '{}' reads {} through a Sub of 0, which changes no number, because {} cannot build a {} whose "
                   "input is widened by a Cast",
                   m_nodeNames[place], form, m_shared.table.name, node.op)});
  return result;
}

}  // namespace fusescope
