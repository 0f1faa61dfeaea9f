#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "app/cli/command.h"
#include "app/cli/table.h"

namespace fusescope::cli {
namespace {

struct Arguments {
  std::string path, node;
  bool json = false;
  PlanArguments plan;
};

std::string textOr(const Json& json, std::string_view otherwise) {
  return json.is_string() ? json.get<std::string>() : std::string(otherwise);
}

void printForPeople(const Json& json) {
  printTitle(json["node"].get<std::string>());
  if (json["fused_node"].is_null()) {
    std::cout << "  is not in the plan: import or normalisation removed or merged it\n";
  } else {
    std::cout << fmt::format("  in {}, fused node {}\n  asked {}, granted {}\n", textOr(json["segment"], "no segment"),
                             textOr(json["fused_node"], "-"), textOr(json["asked"], "nothing"),
                             textOr(json["granted"], "-"));
  }
  printTitle("Decisions");
  std::size_t index = 0;
  for (const auto& decision : json["decisions"]) {
    std::cout << fmt::format("  [{}] {} {} ({}, by {})", index++, decision["allowed"].get<bool>() ? "yes" : "NO ",
                             decision["message"].get<std::string>(), decision["code"].get<std::string>(),
                             decision["by"].get<std::string>());
    std::string because;
    for (const auto& evidence : decision["evidence"]) because += fmt::format(" [{}]", evidence.get<std::uint32_t>());
    std::cout << (because.empty() ? "" : " because of" + because) << "\n";
  }
  if (json["would_help"].empty()) return;
  printTitle("Would change it");
  Table table({{"change"}, {"effect"}});
  for (const auto& help : json["would_help"]) {
    table.add({help["change"].get<std::string>(), help["effect"].get<std::string>()});
  }
  table.print();
}

Result<int> explain(const Arguments& arguments) {
  const auto artifact = TRY(open(arguments.path, arguments.plan));
  const auto json = TRY(explainJson(*artifact.plan, arguments.node));
  if (arguments.json) {
    printJson(json);
  } else {
    printForPeople(json);
  }
  return reportObeyRefusals(*artifact.plan) ? kDoesNotHold : kDone;
}

}  // namespace

Command explainCommand(CLI::App& app) {
  auto* verb = app.add_subcommand("explain", "every decision about one node, and what would change it");
  auto arguments = std::make_shared<Arguments>();
  verb->add_option("MODEL", arguments->path, "a model")->required()->type_name("MODEL");
  verb->add_option("NODE", arguments->node, "a node by its ONNX name")->required()->type_name("NODE");
  verb->add_flag("--json", arguments->json, "print JSON");
  arguments->plan.declare(*verb);
  return {verb, [arguments] { return explain(*arguments); }};
}

}  // namespace fusescope::cli
