#include <fmt/format.h>

#include <array>
#include <iostream>

#include "app/cli/command.h"
#include "app/cli/table.h"
#include "base/text.h"
#include "ir/graph.h"
#include "session/explain.h"
#include "session/operations/explain_operation.h"

namespace fusescope::cli {
namespace {

using ExplainArguments = ArgumentsOf<ExplainSettings>;

std::string listText(const Json& names) {
  std::vector<std::string> all;
  for (const Json& entry : names) all.push_back(entry.get<std::string>());
  return joined(all);
}

std::string bytesIn(const Json& json) {
  return bytesText(json.is_null() ? std::nullopt : std::optional(json.get<std::int64_t>()));
}

/// Prints the work, bytes and time of the node's kernel, and, if extents are open, their values at the minimum and
/// maximum extents.
void printCosts(const Json& costs) {
  if (costs.is_null()) return;
  const auto texts = [](const Json& at) {
    const auto flops = at["flops"].is_null() ? std::nullopt : std::optional(at["flops"].get<std::int64_t>());
    const auto ms = at["predicted_ms"].is_null() ? std::nullopt : std::optional(at["predicted_ms"].get<double>());
    return std::array{flopsText(flops), bytesIn(at["bytes"]), msText(ms)};
  };
  const auto usual = texts(costs["usual"]);
  std::cout << fmt::format("  its kernel: work {}, moved {}, predicted {}\n", usual[0], usual[1], usual[2]);
  if (!costs["open"].get<bool>()) return;
  const auto least = texts(costs["least"]), most = texts(costs["most"]);
  std::cout << fmt::format("  at the minimum and at the maximum extents: work {}, moved {}, predicted {}\n",
                           rangeText(least[0], most[0]), rangeText(least[1], most[1]), rangeText(least[2], most[2]));
}

/// Returns "no type was asked for; it calculates in f32". The second part is missing if it calculates no floats.
std::string typesText(const Json& json) {
  const std::string asked =
      json["asked"].is_null() ? "no type was asked for" : json["asked"].get<std::string>() + " was asked for";
  if (!json["granted"].is_null()) return asked + "; it calculates in " + json["granted"].get<std::string>();
  return json["made"].is_null() ? asked : asked + "; the compiler does not disclose the type in which it calculates";
}

/// Prints where the node is, or what became of it.
void printPlace(const Json& json) {
  if (!json["body_of"].is_null()) {
    std::cout << fmt::format("  in the body of {}, which runs in {}; it keeps {}, the type that the network gives it\n",
                             json["body_of"].get<std::string>(), textOr(json["segment"], "no segment"),
                             textOr(json["granted"], "its types"));
    return;
  }
  if (json["fused_node"].is_null()) {
    std::cout << "  is not in the plan: import or normalisation removed or merged it\n";
    for (const Json& became : json["became"])
      std::cout << fmt::format("  {} ({})\n", became["message"].get<std::string>(), became["code"].get<std::string>());
    return;
  }
  std::cout << fmt::format(
      "  in {}, fused node {}{}\n  {}\n", textOr(json["segment"], "no segment"), textOr(json["fused_node"], "-"),
      json["predicted"].get<bool>() ? " (predicted: the target's compiler fuses by its own rules)" : "",
      typesText(json));
  printCosts(json["costs"]);
  if (json["kernel_types"].size() > 1)
    std::cout << fmt::format("  its kernel calculates in {}\n", listText(json["kernel_types"]));
  for (const Json& weight : json["lost_weights"])
    std::cout << fmt::format("  its {}\n", weight["message"].get<std::string>());
}

/// Prints the nodes of an exported program from which the node was made, and the lines of the author's program that
/// call each other to reach it, the innermost call last.
void printSource(const Json& source, const Json& programNodes) {
  std::vector<std::string> names;
  for (const Json& name : programNodes) names.push_back(name.get<std::string>());
  if (!names.empty()) std::cout << fmt::format("  made of {} of the exported program\n", joined(names));
  if (source.is_null()) return;
  std::cout << "  written in:\n";
  for (const Json& line : source) std::cout << fmt::format("    {}\n", line.get<std::string>());
}

/// Prints the predicted time of the node's kernel; for a node with bodies, the time of its bodies.
void printTime(const Json& json) {
  const auto source = [](const Json& how) {
    return priceSourceFromName(how.get<std::string>()).value_or(PriceSource::Unknown);
  };
  if (!json["predicted_ms"].is_null())
    std::cout << fmt::format("  predicted {}\n",
                             msText(json["predicted_ms"].get<double>(), source(json["predicted_how"])));
  if (!json["price_from"].is_null())
    std::cout << fmt::format("  source of this time: {}\n", json["price_from"].get<std::string>());
  const Json& time = json["body_time"];
  if (time.is_null()) return;
  const std::string range =
      rangeText(time["least_ms"].get<double>(), time["most_ms"].get<double>(), source(time["how"]));
  if (time["per_iteration"].get<bool>())
    std::cout << fmt::format("  its body takes {} per iteration; the number of iterations depends on the data\n",
                             range);
  else if (!time["iterations"].is_null())
    std::cout << fmt::format("  its body's {} take {}\n", counted(time["iterations"].get<std::int64_t>(), "iteration"),
                             range);
  else
    std::cout << fmt::format("  its branches take {}\n", range);
}

/// Prints what another compiler made of the node.
void printMade(const Json& made) {
  if (made.is_null()) return;
  printTitle("What " + made["compiler"].get<std::string>() + " made of it");
  std::cout << fmt::format("  {}\n", made["words"].get<std::string>());
  for (const Json& kernel : made["kernels"])
    std::cout << fmt::format("  in kernel {} ({}): {}{}{}\n", kernel["name"].get<std::string>(),
                             textOr(kernel["kind"], "of an undisclosed kind"), kernel["certainty"].get<std::string>(),
                             kernel["compute"].is_null() ? "" : ", calculates in " + textOr(kernel["compute"], ""),
                             kernel["ms"].is_null() ? "" : ", " + msText(kernel["ms"].get<double>()));
  if (const Json& pin = made["pin"]; !pin.is_null())
    std::cout << fmt::format("  asked {}, {}: {}\n", pin["asked"].get<std::string>(), pin["result"].get<std::string>(),
                             textOr(pin["granted"], "the type is not disclosed"));
  if (const Json& support = made["support"]; support["taken"] == false)
    std::cout << fmt::format("  refused by its {}: {}\n", support["found_by"].get<std::string>(),
                             support["message"].get<std::string>());
}

/// Prints the answer to each directive that asks for a type of the node, and the price of all of them together.
void printAnswers(const Json& json) {
  if (json["answers"].empty()) return;
  printTitle("Answers to pins");
  for (const Json& answer : json["answers"])
    std::cout << fmt::format("  {}: {}\n", answer["by"].get<std::string>(), answer["message"].get<std::string>());
  if (!json["together"].is_null()) std::cout << "  " << json["together"]["message"].get<std::string>() << "\n";
}

void printEdges(const Json& json) {
  if (json["edges"].empty()) return;
  printTitle("Values");
  Table table({{""}, {"value"}, {"type"}, {"where"}});
  for (const Json& edge : json["edges"]) {
    const bool wider = edge["held_wider"].get<bool>(), real = edge["real"].get<bool>();
    table.add({edge["direction"].get<std::string>(), shortened(edge["value"].get<std::string>(), 40),
               textOr(edge["type"], "not disclosed"),
               real    ? "in memory"
               : wider ? "in registers, wider than its kernel calculates in; never stored"
                       : "in registers"});
  }
  table.print();
}

void printBorders(const Json& json) {
  if (json["borders"].empty()) return;
  printTitle("Segment borders at its kernel");
  Table table({{""}, {"value"}, {"other side"}, {"stored"}, {"bytes", true}, {"converted"}});
  for (const Json& border : json["borders"]) {
    const Json& cast = border["conversion"];
    table.add({border["direction"].get<std::string>(), shortened(border["value"].get<std::string>(), 40),
               textOr(border["other"], "the network"), border["type"].get<std::string>(), bytesIn(border["bytes"]),
               cast.is_null() ? "-"
                              : fmt::format("{} to {}, {} moved", cast["from"].get<std::string>(),
                                            cast["to"].get<std::string>(), bytesIn(cast["bytes"]))});
  }
  table.print();
}

void printExplanation(const Json& json) {
  printTitle(json["node"].get<std::string>());
  printPlace(json);
  printTime(json);
  printSource(json["source"], json["program_nodes"]);
  printMade(json["made"]);
  printAnswers(json);
  printEdges(json);
  printBorders(json);
  printTitle(json["made"].is_null() ? "Decisions" : "Decisions of the plan that was asked for");
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

Result<int> explain(const ExplainArguments& arguments) {
  // If a session is given, the node may be the only positional argument.
  const bool nodeAlone = !arguments.plan.session.empty() && arguments.node.empty();
  const std::string& node = nodeAlone ? arguments.path : arguments.node;
  if (node.empty())
    return Diagnostic{.message = "the node to explain is missing",
                      .where = {.attribute = "NODE"},
                      .help = "fusescope plan lists the nodes."};
  auto artifact = TRY(open(nodeAlone ? std::string() : arguments.path, arguments.plan));
  TRY(readBack(artifact));
  const auto json = TRY(explainJson(artifact, node));
  if (arguments.json) {
    printJson(json);
  } else {
    printExplanation(json);
  }
  const bool isRefused = reportObeyRefusals(*artifact.plan);
  return reportUnobeyedPins(artifact.cover()) || isRefused ? kDoesNotHold : kDone;
}

}  // namespace

Command explainCommand(CLI::App& app) {
  return commandOf<ExplainSettings>(app, explainOperation(), explain);
}

}  // namespace fusescope::cli
