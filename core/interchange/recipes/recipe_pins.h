#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "interchange/recipes/recipe.h"
#include "interchange/recipes/registered_layers.h"
#include "ir/model.h"
#include "ir/tensor.h"

namespace fusescope {

/// Collects the requests of a recipe for layers, by the nodes of the main graph of a model that they belong to. A
/// request that belongs to no node, or asks for a type that is not a float, becomes an unmapped entry. The model must
/// outlive it.
class RecipePins {
 public:
  RecipePins(const Model& model, const RecipeOptions& options);

  /// Asks a node to calculate in `type`, whose name in the recipe is `typeName`. A later request for a node replaces an
  /// earlier one.
  void pinLayer(const std::string& layer, std::string_view typeName, const std::string& entry);
  /// Does the same as pinLayer() for a node that is known to calculate.
  void pinCalculating(const std::string& node, std::string_view typeName, const std::string& entry);
  /// Asks all outputs of a node to be stored in one type, or each in its own.
  void leaveOutputs(const std::string& layer, const std::vector<std::string>& typeNames, const std::string& entry);
  /// Asks a node of the model to calculate in `type`, without further checks.
  void pinNode(const std::string& node, DataType type);
  /// Does the same as pinNode() for the node that makes `value`; a value that no node calculates is ignored.
  void pinMakerOf(const std::string& value, DataType type);

  void refuse(std::string entry, std::string why) { m_unmapped.push_back({std::move(entry), std::move(why)}); }

  /// Returns the node that a layer of TensorRT's network belongs to; if there is none, adds an unmapped entry with the
  /// reason.
  std::optional<std::string> nodeOf(const std::string& layer, const std::string& entry);
  /// Returns whether a layer or node has exactly this name.
  bool knows(std::string_view layer) const { return m_names.contains(layer) || m_nodeOfLayer.contains(layer); }
  bool calculates(std::string_view node) const { return m_calculating.contains(node); }
  const std::vector<std::string>& calculatingNodes() const { return m_inOrder; }
  /// Returns the dotted path of the module whose code made the node, if the file contains it.
  std::string moduleOfNode(const std::string& node) const;
  std::string operatorOf(const std::string& node) const;
  std::vector<std::string> outputsOf(const std::string& node) const;

  bool empty() const { return m_types.empty() && m_outputs.empty(); }
  /// Appends directives, at most one for each node, and unmapped entries to `recipe`.
  void moveInto(Recipe& recipe, Strictness strictness);

 private:
  struct Request {
    DataType type = DataType::Undefined;
    std::size_t order = 0;
  };
  std::optional<DataType> typeOf(std::string_view typeName, const std::string& entry);
  std::string whyUnknown(const std::string& layer) const;

  const Model& m_model;
  std::set<std::string, std::less<>> m_names;        ///< of all nodes of the file's main graph
  std::set<std::string, std::less<>> m_calculating;  ///< of those that calculate floats
  std::set<std::string, std::less<>> m_floats;       ///< of those that read or make floats, moves among them
  std::vector<std::string> m_inOrder;                ///< m_calculating, in the order of the file
  std::map<std::string, std::string, std::less<>> m_nodeOfLayer;
  bool m_hasLog = false;
  std::map<std::string, Request, std::less<>> m_types, m_outputs;  ///< by node; by pattern
  std::size_t m_next = 0;
  std::vector<UnmappedEntry> m_unmapped;
};

}  // namespace fusescope
