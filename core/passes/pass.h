#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/stop.h"
#include "ir/graph.h"
#include "ir/model.h"

namespace fusescope {

class Graph;
class GraphEditor;
struct Node;

/// Counts the nodes of the graph that represent each node of the file. When the last of them is removed, the origin
/// gets exactly one decision.
class OriginLedger {
 public:
  OriginLedger(const Model& model, std::vector<Decision>& decisions);
  /// Records that `node` is about to be removed. Each origin that loses its last node is the subject of a decision.
  void retire(const Node& node, std::string_view code, std::string_view by, DecisionArguments arguments = {});
  /// Records that `count` additional nodes represent the origins of `node`.
  void add(const Node& node, int count);

 private:
  const std::vector<Origin>& m_origins;
  std::vector<Decision>& m_decisions;
  std::vector<int> m_nodes;  ///< by OriginId
};

/// The state on which a pass works. `graph` is the published graph before the pass; edits are made in `editor`, a copy
/// of it.
struct PassContext {
  const Graph& graph;
  GraphEditor& editor;
  OriginLedger& ledger;
  const std::vector<InputSpec>& inputSpecs;
  std::vector<Decision>& decisions;
  std::vector<ExtentCondition>& conditions;
  std::vector<TensorType>& declaredInputs;
  const StopToken& stop;
  Model& model;  ///< the model of the graph; graph and decisions are changed only through the members above
};

/// A named step over a graph. It is deterministic and idempotent, and reports truthfully whether it changed anything.
class Pass {
 public:
  virtual ~Pass() = default;
  virtual std::string_view name() const = 0;
  virtual Result<bool> run(PassContext& context) const = 0;
};

/// What a pass did in one run.
struct PassRecord {
  std::string name;
  bool changed = false;
  double milliseconds = 0;
  std::size_t decisions = 0;  ///< the number of decisions that it added
};

struct PassOptions {
  std::set<std::string, std::less<>> skip;  ///< names of passes
  std::string stopAfter;                    ///< the name of the last pass to run; empty: all
};

/// A list of passes that run in order. The graph is verified after each pass that changed it.
class PassManager {
 public:
  PassManager& add(std::unique_ptr<Pass> pass);
  std::vector<std::string> names() const;
  /// Runs the passes. It replaces model.graph and appends to model.decisions.
  Result<std::vector<PassRecord>> run(Model& model, const PassOptions& options = {}, const StopToken& stop = {}) const;

 private:
  std::vector<std::unique_ptr<Pass>> m_passes;
};

using Replacements = std::unordered_map<ValueId, ValueId>;
/// Replaces every use of a key by its value, following chains to their ends, in one walk over the graph.
void applyReplacements(GraphEditor& editor, const Replacements& replacements);

/// Removes `node`, whose output is equal to its input, from the graph. Returns false if it has to stay, because its
/// result is an output of the graph whose name the input's producer cannot take.
bool bypass(PassContext& context, const Node& node, Replacements& replacements);

}  // namespace fusescope
