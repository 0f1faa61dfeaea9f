#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "interchange/substitutions/file_matcher.h"
#include "onnxlib/network_edits.h"

namespace fusescope {

/// One place where a substitution applies: nodes to remove and nodes to add, which make the same values for the rest of
/// the network. A new node has the name of a removed one, or a new name.
struct ReplacedSite {
  std::set<std::size_t> gone;  ///< indices in the file
  std::vector<onnxlib::FileNode> made{};
  std::vector<onnxlib::FileTensor> weights{};
  std::optional<onnxlib::NetworkEdits::Borders> borders{};  ///< set if inputs or outputs of the network change
  /// For each input whose axes are reordered: its new name, and for each new axis the old one.
  std::map<std::string, std::pair<std::string, std::vector<std::int64_t>>> turned{};
  std::string at{};                ///< the name of a new node or value at which the inverse rule finds the place
  std::set<std::size_t> around{};  ///< nodes that stay and whose kernels may change
};

/// The input of a rule that searches for places.
struct SiteSearch {
  const FileMatcher& match;
  std::set<std::string>& names;  ///< all names in use
  std::string argument;          ///< for a rule that takes a value: its name

  std::string fresh(const std::string& wanted) const;
  /// Adds a weight with one number of type `type` to `site` and returns its new name.
  std::string number(ReplacedSite& site, const std::string& wanted, double number, DataType type) const;
  std::string integers(ReplacedSite& site, const std::string& wanted, std::vector<std::int64_t> numbers) const;
};

/// The meaning of the text after '@' of a rule.
enum class RuleArgument {
  Nodes,  ///< a pattern of nodes, or nothing for all nodes
  Value,  ///< a value, which is required
};

/// A listed substitution. It is a pure function that returns what to change.
struct Substitution {
  std::string_view name;     ///< "gelu"
  std::string_view summary;  ///< what is replaced by what, for people
  std::string_view inverse;  ///< the rule that undoes it; empty: there is none, and the report lists what was replaced
  RuleArgument argument = RuleArgument::Nodes;
  std::int64_t opset = 0;  ///< the opset of ai.onnx that the result needs; 0: any
  bool repeats = false;    ///< the result may itself match the rule again
  Result<std::vector<ReplacedSite>> (*find)(const SiteSearch& search) = nullptr;
};

/// Returns all substitutions in the order in which `replace --list` prints them.
const std::vector<Substitution>& substitutions();
const Substitution* findSubstitution(std::string_view name);

/// Returns the edits for `sites`, no two of which may share a node.
onnxlib::NetworkEdits editsOf(const std::vector<ReplacedSite>& sites);

onnxlib::FileNode fileNodeOf(std::string name, std::string op, std::vector<std::string> inputs, std::string output,
                             std::vector<onnxlib::FileAttribute> attributes = {});

}  // namespace fusescope
