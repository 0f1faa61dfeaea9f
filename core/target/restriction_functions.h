#pragma once

#include <string_view>
#include <vector>

namespace fusescope {

struct NodeRequest;

/// Whether something holds of a node: it does, it does not, or that is known only when it runs.
enum class Holds { Yes, No, Unknown };

using RestrictionFunction = Holds (*)(const NodeRequest& request);

/// A restriction that a table cannot say: its name there, what must hold (as the end of "supports it where …"), and
/// the function that checks it.
struct NamedRestriction {
  std::string_view name;
  std::string_view statement;
  RestrictionFunction holds;
};
/// Those of restrictions.inc.
const std::vector<const NamedRestriction*>& restrictionFunctions();

}  // namespace fusescope
