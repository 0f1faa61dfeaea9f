#include "ui/docks/tensor_choice.h"

#include <algorithm>
#include <set>

#include "ir/graph.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// Collects the values around some nodes of one graph, without repetitions.
class ChoicesAround {
 public:
  ChoicesAround(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const BodyPath& path)
      : m_snapshot(snapshot), m_path(path) {
    for (const NodeId node : nodes)
      for (const ValueId value : snapshot.graph().node(node).outputs) m_made.insert(value);
    for (const NodeId node : nodes) {
      for (const ValueId value : operands(snapshot.graph().node(node))) add(value, node);
      for (const ValueId value : snapshot.graph().node(node).outputs) add(value, node);
    }
  }

  std::vector<TensorChoice> take() {
    constexpr TensorChoice::Kind kOrder[] = {TensorChoice::Kind::Weight, TensorChoice::Kind::Output,
                                             TensorChoice::Kind::Inner, TensorChoice::Kind::Input};
    std::ranges::stable_sort(
        m_found, {}, [&](const Found& found) { return std::ranges::find(kOrder, found.kind) - std::begin(kOrder); });
    if (m_found.size() > kMostChoices) m_found.resize(kMostChoices);
    std::vector<TensorChoice> choices;
    for (const Found& found : m_found) choices.push_back(choiceOf(found));
    return choices;
  }

 private:
  struct Found {
    ValueId value;
    TensorChoice::Kind kind = TensorChoice::Kind::Weight;
  };

  void add(ValueId value, NodeId node) {
    if (value.valid() && m_known.insert(value).second) m_found.push_back({value, kindOf(value, node)});
  }

  TensorChoice choiceOf(const Found& found) const {
    const Value& value = m_snapshot.graph().value(found.value);
    TensorChoice choice{.kind = found.kind, .name = m_path.of(value.name)};
    if (value.constant != nullptr) choice.constant = *value.constant;
    if (!m_path.isNetwork() && !choice.constant)
      choice.refusal = QStringLiteral(
          "It is in a body, which calculates it again in each call: no call's value is kept. Its weights can be "
          "displayed.");
    choice.label = QStringLiteral("%1  %2  ·  %3").arg(wordOf(choice.kind), qs(value.name), qs(value.type.text()));
    return choice;
  }

  TensorChoice::Kind kindOf(ValueId value, NodeId node) const {
    if (m_snapshot.graph().isConstant(value)) return TensorChoice::Kind::Weight;
    if (!m_made.contains(value)) return TensorChoice::Kind::Input;
    const auto kernels = m_snapshot.kernelsOf(node);
    const bool leaves = std::ranges::any_of(kernels, [&](const FusedNode* fused) {
      return std::ranges::find(fused->outputs, value, &FusedOutput::value) != fused->outputs.end();
    });
    return leaves ? TensorChoice::Kind::Output : TensorChoice::Kind::Inner;
  }

  static QString wordOf(TensorChoice::Kind kind) {
    switch (kind) {
      case TensorChoice::Kind::Weight:
        return QStringLiteral("weight");
      case TensorChoice::Kind::Input:
        return QStringLiteral("input");
      case TensorChoice::Kind::Output:
        return QStringLiteral("output");
      case TensorChoice::Kind::Inner:
        break;
    }
    return QStringLiteral("inside");
  }

  const PlanSnapshot& m_snapshot;
  const BodyPath& m_path;
  std::set<ValueId> m_made, m_known;
  std::vector<Found> m_found;
};

}  // namespace

std::vector<TensorChoice> tensorChoices(const PlanSnapshot& snapshot, const Selection& selection) {
  if (const auto inside = snapshot.inside(selection.inside()))
    return ChoicesAround(*inside->body, inside->nodes, inside->place.bodies).take();
  return ChoicesAround(snapshot, selection.nodes(), {}).take();
}

}  // namespace fusescope
