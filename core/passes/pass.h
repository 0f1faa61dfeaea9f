#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/stop.h"
#include "ir/model.h"

namespace fusescope {

/// Which nodes of the graph still stand for each node of the file. When the last one goes, its origin gets one
/// decision.
class OriginLedger {
 public:
  OriginLedger(const Model& model, std::vector<Decision>& decisions);
  /// Says that `node` is about to be removed. Each origin that loses its last node is the subject of a decision.
  void retire(const Node& node, std::string_view code, std::string_view by, Json arguments = Json::object());
  /// Says that `count` more nodes stand for the origins of `node`.
  void add(const Node& node, int count);

 private:
  const std::vector<Origin>& m_origins;
  std::vector<Decision>& m_decisions;
  std::vector<int> m_nodes;  ///< by OriginId
};

/// What a pass works on. `graph` is the published state before the pass; edits go to `editor`, a copy of it.
struct PassContext {
  const Graph& graph;
  GraphEditor& editor;
  OriginLedger& ledger;
  const std::vector<InputSpec>& inputSpecs;
  std::vector<Decision>& decisions;
  std::vector<ExtentCondition>& conditions;
  std::vector<TensorType>& declaredInputs;
  const StopToken& stop;
  Model& model;  ///< whose graph it is; graph and decisions are changed through the members above alone
};

/// One named step over a graph. Deterministic and idempotent; says truthfully whether it changed anything.
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
  std::size_t decisions = 0;  ///< how many it left
};

struct PassOptions {
  std::set<std::string, std::less<>> skip;  ///< by name
  std::string stopAfter;                    ///< the last pass to run; empty: all
};

/// A list of passes run in order; the graph is verified after each that changed it.
class PassManager {
 public:
  PassManager& add(std::unique_ptr<Pass> pass);
  std::vector<std::string> names() const;
  /// Replaces model.graph and appends to model.decisions.
  Result<std::vector<PassRecord>> run(Model& model, const PassOptions& options = {}, const StopToken& stop = {}) const;

 private:
  std::vector<std::unique_ptr<Pass>> m_passes;
};

using Replacements = std::unordered_map<ValueId, ValueId>;
/// Every use of a key becomes its value (followed to the end of a chain), in one walk over the graph.
void applyReplacements(GraphEditor& editor, const Replacements& replacements);

/// Takes `node`, whose output only repeats its input, out of the graph. False if it has to stay: it names an output of
/// the graph that cannot be given to the input's producer.
bool bypass(PassContext& context, const Node& node, Replacements& replacements);

}  // namespace fusescope
