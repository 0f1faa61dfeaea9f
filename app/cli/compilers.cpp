#include <iostream>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/table.h"
#include "base/text.h"

namespace fusescope::cli {
namespace {

void printForPeople() {
  printTitle("Compilers");
  Table table({{"name"}, {"version"}, {"where"}, {"target"}, {"can"}});
  std::vector<std::string> reasons;
  for (const Compiler* compiler : allCompilers()) {
    const CompilerIdentity identity = compiler->identity();
    std::vector<std::string> can;
    for (const Ability ability : allAbilities()) {
      const std::string why = compiler->whyNot(ability);
      if (why.empty()) can.emplace_back(name(ability));
      if (!why.empty()) reasons.push_back(identity.name + " cannot " + std::string(name(ability)) + ": " + why);
    }
    table.add({identity.name, identity.version, identity.environment.empty() ? "built in" : identity.environment,
               compiler->target().empty() ? "any" : compiler->target(), joined(can)});
  }
  table.print();
  for (const std::string& reason : reasons) std::cout << reason << "\n";
}

Json compilersJson() {
  Json json = {{"format", "fusescope.compilers"}, {"version", 1}, {"compilers", Json::array()}};
  for (const Compiler* compiler : allCompilers()) json["compilers"].push_back(toJson(*compiler));
  return json;
}

}  // namespace

Command compilersCommand(CLI::App& app) {
  auto* verb = app.add_subcommand("compilers", "what can compile a network here, and what each can do");
  const auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "print JSON");
  return {verb, [json]() -> Result<int> {
            if (*json) {
              printJson(compilersJson());
            } else {
              printForPeople();
            }
            return kDone;
          }};
}

}  // namespace fusescope::cli
