#include "compilers/compiler.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/name_hints.h"
#include "base/text.h"

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

bool isForTarget(std::string_view asked, std::string_view own) {
  return own.empty() || asked == own || asked.starts_with(std::string(own) + ":");
}

bool Compiler::takesTarget(std::string_view asked) const {
  return isForTarget(asked, target());
}

Json toJson(const Compiler& compiler) {
  const CompilerIdentity identity = compiler.identity();
  const std::string untried = compiler.untried(), untriedToRun = compiler.untriedToRun();
  Json can = Json::array(), cannot = Json::array();
  for (const Ability ability : allAbilities()) {
    const std::string why = compiler.whyNot(ability);
    if (why.empty()) {
      can.push_back(name(ability));
    } else {
      cannot.push_back({{"ability", name(ability)}, {"why", why}});
    }
  }
  Json options = Json::array();
  for (const CompilerOption& option : compiler.options())
    options.push_back(
        {{"name", option.name}, {"values", option.values}, {"initial", option.initial}, {"help", option.help}});
  return {{"name", compiler.name()},
          {"version", identity.version},
          {"environment", identity.environment},
          {"target", compiler.target()},
          {"options", std::move(options)},
          {"can", std::move(can)},
          {"cannot", std::move(cannot)},
          {"untried", untried.empty() ? Json() : Json(untried)},
          {"untried_to_run", untriedToRun.empty() ? Json() : Json(untriedToRun)}};
}

Status checkOptions(const Compiler& compiler, const std::map<std::string, std::string>& given) {
  const std::vector<CompilerOption> options = compiler.options();
  for (const auto& [name, value] : given) {
    const auto error = [&](std::string message, std::string help) {
      return Diagnostic{.message = std::move(message), .where = {.attribute = "--compiler-option"}, .help = help};
    };
    const auto option = std::ranges::find(options, name, &CompilerOption::name);
    if (option == options.end()) {
      std::vector<std::string> names;
      for (const CompilerOption& known : options) names.push_back(known.name);
      return error(fmt::format("{} has no option '{}'", compiler.name(), name),
                   names.empty() ? fmt::format("{} has no options at all.", compiler.name())
                                 : nearestInWords(name, names, fmt::format("Its options are {}.", joined(names))));
    }
    if (option->values.empty() || std::ranges::find(option->values, value) != option->values.end()) continue;
    const std::string near = nearestInWords(value, option->values, "");
    return error(fmt::format("option '{}' of {} cannot be '{}'", name, compiler.name(), value),
                 fmt::format("{}{}Its values are {}.", near, near.empty() ? "" : " ", joined(option->values)));
  }
  return Done{};
}

Status checkAble(const Compiler& compiler, Ability ability, std::string_view verb) {
  const std::string why = compiler.whyNot(ability);
  if (why.empty()) return Done{};
  const bool isSentence = why.ends_with('.');  // the message of an error has no full stop at its end
  return Diagnostic{.message = fmt::format("{} cannot {} here: {}", compiler.name(), verb,
                                           std::string_view(why).substr(0, why.size() - (isSentence ? 1 : 0))),
                    .where = {.attribute = "--compiler"},
                    .help = "fusescope compilers lists what each compiler can do."};
}

}  // namespace fusescope
