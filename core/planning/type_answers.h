#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planning/type_solver.h"

namespace fusescope {

/// One grant per node, in graph order. `plan` has its fused nodes, indexed.
std::vector<PrecisionGrant> typeGrants(const Plan& plan, const Structure& structure, const TypeSolver& solver);

struct TypeAnswers : Explanations {
  std::optional<PinsTogether> pinsTogether{};
};

/// The decisions of kind precision, for a plan with grants. Every Pin and PinOutput directive is answered for each node
/// it names: it holds, for free or at a price, it is refused, or there is nothing to pin. `keptInFloats`: of the
/// options of the plan (quantized_model.h).
TypeAnswers answerTypes(const Plan& plan, const DirectiveMap& directives, TypeSolver& solver,
                        const std::map<int, std::vector<NodeId>>& keptInFloats);
/// What edit of the network makes `node` calculate in `type` where the network's types decide.
std::string editFor(const Plan& plan, NodeId node, DataType type);
/// Puts what directives cost into the arguments of a decision.
void sayCost(const DirectiveCost& cost, Json& arguments);

/// Warns of floats that become an index or an extent and are calculated or read in a type that holds fewer integers.
std::vector<Decision> indexWarnings(const Plan& plan);

/// A plan without its decisions, and what they are made from.
struct Layout {
  Plan plan;
  std::shared_ptr<const DirectiveMap> directives;
  std::unique_ptr<TypeSolver> solver;
  std::vector<Region> regions;
};
/// Steps 1 to 4 of the pipeline (pipeline.cpp). `priced`: what prices decided.
Result<Layout> layOut(std::shared_ptr<const Model> model, const PlanOptions& options, const PriceChoices& priced,
                      std::shared_ptr<const Structure> previous, const StopToken& stop = {});

}  // namespace fusescope
