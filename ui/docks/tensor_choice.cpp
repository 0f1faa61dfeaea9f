#include "ui/docks/tensor_choice.h"

#include <algorithm>
#include <set>

#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

/// Collects the values around some nodes of one graph, each once.
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
    std::ranges::stable_sort(m_choices, {}, [&](const TensorChoice& choice) {
      return std::ranges::find(kOrder, choice.kind) - std::begin(kOrder);
    });
    if (m_choices.size() > kMostChoices) m_choices.resize(kMostChoices);
    return std::move(m_choices);
  }

 private:
  void add(ValueId id, NodeId node) {
    if (!id.valid() || !m_known.insert(id).second) return;
    const Graph& graph = m_snapshot.graph();
    const Value& value = graph.value(id);
    TensorChoice choice{.kind = kindOf(id, node), .name = m_path.of(value.name)};
    if (value.constant != nullptr) choice.constant = *value.constant;
    if (!m_path.isNetwork() && !choice.constant)
      choice.refusal = QStringLiteral(
          "It is in a body, which makes it anew in each of its calls: no call's value is kept. Its "
          "weights can be looked at.");
    choice.label = QStringLiteral("%1  %2  ·  %3").arg(wordOf(choice.kind), qs(value.name), qs(value.type.text()));
    m_choices.push_back(std::move(choice));
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
  std::vector<TensorChoice> m_choices;
};

}  // namespace

std::vector<TensorChoice> tensorChoices(const PlanSnapshot& snapshot, const Selection& selection) {
  if (const auto inside = snapshot.inside(selection.inside()))
    return ChoicesAround(*inside->body, inside->nodes, inside->place.bodies).take();
  return ChoicesAround(snapshot, selection.nodes(), {}).take();
}

}  // namespace fusescope
