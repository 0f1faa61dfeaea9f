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

/// One place where a substitution applies: nodes that go and nodes that stand there then, which make the same values
/// for the rest of the network. A new node has the name of one that goes, or a fresh one.
struct ReplacedSite {
  std::set<std::size_t> gone;  ///< places in the file's list
  std::vector<onnxlib::FileNode> made{};
  std::vector<onnxlib::FileTensor> weights{};
  std::optional<onnxlib::NetworkEdits::Borders> borders{};  ///< where inputs or outputs of the network change
  /// Of an input whose extents are in another order now: its new name, and which of its old axes each new one is.
  std::map<std::string, std::pair<std::string, std::vector<std::int64_t>>> turned{};
  std::string at{};                ///< what names the site for the inverse: a new node or value
  std::set<std::size_t> around{};  ///< nodes that stay and whose kernels may be others then
};

/// What a rule finds its sites in.
struct SiteSearch {
  const FileMatcher& match;
  std::set<std::string>& names;  ///< all that are taken
  std::string argument;          ///< of a rule that takes a value: its name

  std::string fresh(const std::string& wanted) const;
  /// A weight of one number of the type that `like` has, under a fresh name, added to `site`; its name.
  std::string number(ReplacedSite& site, const std::string& wanted, double number, DataType type) const;
  std::string integers(ReplacedSite& site, const std::string& wanted, std::vector<std::int64_t> numbers) const;
};

/// What stands behind the '@' of a rule.
enum class RuleArgument {
  Nodes,  ///< a pattern of nodes, or nothing: everywhere
  Value,  ///< a value, which must be said
};

/// A listed substitution. Pure: it says what is to be changed.
struct Substitution {
  std::string_view name;     ///< "gelu"
  std::string_view summary;  ///< for people: what becomes what
  std::string_view inverse;  ///< the rule that undoes it; empty: the report lists what was replaced
  RuleArgument argument = RuleArgument::Nodes;
  std::int64_t opset = 0;  ///< of ai.onnx, that what it writes needs; 0: any
  bool repeats = false;    ///< what it made may be a site again
  Result<std::vector<ReplacedSite>> (*find)(const SiteSearch& search) = nullptr;
};

/// All of them, in the order in which `replace --list` prints them.
const std::vector<Substitution>& substitutions();
const Substitution* findSubstitution(std::string_view name);

/// The edits that make `sites`, of which none shares a node with another.
onnxlib::NetworkEdits editsOf(const std::vector<ReplacedSite>& sites);

onnxlib::FileNode fileNodeOf(std::string name, std::string op, std::vector<std::string> inputs, std::string output,
                             std::vector<onnxlib::FileAttribute> attributes = {});

}  // namespace fusescope
