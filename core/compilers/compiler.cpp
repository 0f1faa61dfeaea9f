#include "compilers/compiler.h"

#include <fmt/format.h>

namespace fusescope {
namespace {

const std::vector<std::string_view> kAbilities = {"support", "compile", "read_back",    "run",
                                                  "time",    "profile", "inner_values", "keep"};

}  // namespace

std::string_view name(Ability ability) {
  return kAbilities[static_cast<std::size_t>(ability)];
}

const std::vector<Ability>& allAbilities() {
  static const std::vector<Ability> kAll = [] {
    std::vector<Ability> all;
    for (std::size_t i = 0; i < kAbilities.size(); ++i) all.push_back(static_cast<Ability>(i));
    return all;
  }();
  return kAll;
}

Json toJson(const Compiler& compiler) {
  const CompilerIdentity identity = compiler.identity();
  Json can = Json::array(), cannot = Json::array();
  for (const Ability ability : allAbilities()) {
    const std::string why = compiler.whyNot(ability);
    if (why.empty()) {
      can.push_back(name(ability));
    } else {
      cannot.push_back({{"ability", name(ability)}, {"why", why}});
    }
  }
  return {{"name", compiler.name()},     {"version", identity.version}, {"environment", identity.environment},
          {"target", compiler.target()}, {"can", std::move(can)},       {"cannot", std::move(cannot)}};
}

Status checkAble(const Compiler& compiler, Ability ability, std::string_view verb) {
  const std::string why = compiler.whyNot(ability);
  if (why.empty()) return Done{};
  return Diagnostic{.message = fmt::format("{} cannot {} here: {}", compiler.name(), verb, why),
                    .where = {.attribute = "--compiler"},
                    .help = "fusescope compilers lists what each compiler can do."};
}

}  // namespace fusescope
