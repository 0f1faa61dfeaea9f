#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planning/plan.h"
#include "planning/types/type_solver.h"

namespace fusescope {

/// Returns one grant per node, in graph order. plan.index() must have been called.
std::vector<PrecisionGrant> typeGrants(const Plan& plan, const Structure& structure, const TypeSolver& solver);

struct TypeAnswers : Explanations {
  std::optional<PinsTogether> pinsTogether{};
};

/// Returns the decisions of kind precision for a plan with grants. Every Pin and PinOutput directive is answered for
/// each node that it matches: it is satisfied for free or at a price, it is refused, or there is nothing to pin.
/// `keptInFloats` is the result of the function of this name for the plan's options (quantized_model.h).
TypeAnswers answerTypes(const Plan& plan, const DirectiveMap& directives, TypeSolver& solver,
                        const std::map<int, std::vector<NodeId>>& keptInFloats);
/// Returns the edit of the network that makes `node` calculate in `type`, for targets where the network's types decide.
std::string editFor(const Plan& plan, NodeId node, DataType type);
/// Adds the cost of directives to the arguments of a decision.
void sayCost(const DirectiveCost& cost, DecisionArguments& arguments);

/// Returns warnings about floats that become an index or an extent and are calculated or read in a type that represents
/// fewer integers exactly.
std::vector<Decision> indexWarnings(const Plan& plan);

/// A plan without its decisions, and the data from which these are made.
struct Layout {
  Plan plan;
  std::shared_ptr<const DirectiveMap> directives;
  std::unique_ptr<TypeSolver> solver;
  std::vector<Region> regions;
};
/// Runs steps 1 to 4 of the pipeline (pipeline.cpp). `priced` is what prices decided.
Result<Layout> layOut(std::shared_ptr<const Model> model, const PlanOptions& options, const PriceChoices& priced,
                      std::shared_ptr<const Structure> previous, const StopToken& stop = {});

}  // namespace fusescope
