#include "planning/price_choices.h"

namespace fusescope {

Result<PriceChoices> recordedChoices(const Graph& graph, const Json& plan) {
  PriceChoices choices{.types = std::vector<DataType>(graph.nodeIdLimit(), DataType::Undefined),
                       .apart = std::vector<char>(graph.nodeIdLimit(), 0),
                       .decisions = {}};
  for (const Json& grant : plan.at("precision_map")) {
    if (grant.at("code") != "precision.measured") continue;
    const auto node = graph.findNode(grant.at("node").get<std::string>());
    const auto type = dataTypeFromName(grant.at("granted").get<std::string>());
    if (node && type) choices.types[node->index] = *type;
  }
  for (const Json& recorded : plan.at("decisions")) {
    const bool keptApart = recorded.at("code") == "fuse.parallel_slower";
    if (!keptApart && recorded.at("code") != "precision.search_bounded") continue;
    choices.decisions.push_back(TRY(decisionFromJson(recorded)));
    if (!keptApart) continue;
    for (const Subject& subject : choices.decisions.back().subjects)
      if (const auto node = subject.nodeIn(graph)) choices.apart[node->index] = 1;
  }
  return choices;
}

}  // namespace fusescope
