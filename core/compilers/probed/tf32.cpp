#include "compilers/probed/tf32.h"

#include <string>
#include <vector>

#include "base/text.h"

namespace fusescope {

void addTf32Decision(const ProbeAnswer& compiled, std::string_view compiler, ReadBack& readBack) {
  const auto listed = compiled.json.find("tf32");
  if (listed == compiled.json.end() || !listed->is_array()) return;
  std::vector<std::string> where;
  for (const Json& each : *listed)
    if (each.is_string()) where.push_back(each.get<std::string>());
  if (where.empty()) return;
  const std::string name(compiler);
  readBack.decisions.push_back(
      decide("build.multiplies_tf32", {}, name, {{"compiler", name}, {"where", joined(where, " and ")}}));
}

}  // namespace fusescope
