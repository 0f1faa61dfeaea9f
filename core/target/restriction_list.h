#pragma once

#include <string_view>
#include <vector>

namespace fusescope {

struct NodeRequest;

/// Whether a requirement is satisfied: yes, no, or it is known only at run time.
enum class Holds { Yes, No, Unknown };

using RestrictionFunction = Holds (*)(const NodeRequest& request);

/// A restriction that a table cannot express: its name in tables, the requirement (as the end of "supports it where
/// …"), and the function that checks it.
struct NamedRestriction {
  std::string_view name;
  std::string_view statement;
  RestrictionFunction holds;
};
/// Returns the restrictions of restrictions.inc.
const std::vector<const NamedRestriction*>& restrictionFunctions();

}  // namespace fusescope
