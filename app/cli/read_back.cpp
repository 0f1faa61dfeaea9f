#include "app/cli/read_back.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "app/cli/table.h"
#include "base/text.h"
#include "ir/graph.h"
#include "session/documents/decisions_about.h"

namespace fusescope::cli {
namespace {

/// The number of nodes with one fate that are named for people; --json lists all of them.
constexpr std::size_t kMostNodesListed = 6;
/// The number of the compiler's refusals of one code that are printed.
constexpr std::size_t kMostOfOneCode = 4;

std::string typeText(DataType type) {
  return type == DataType::Undefined ? "not disclosed" : std::string(name(type));
}

/// Returns the text of a type or format of a conversion.
std::string reportedText(const std::string& typeOrFormat) {
  return typeOrFormat.empty() || typeOrFormat == name(DataType::Undefined) ? "not disclosed" : typeOrFormat;
}

/// Returns the lowest certainty of the kernel's nodes, which is the certainty of the kernel as a whole.
std::string certaintyText(const ReadBackPlan::Kernel& kernel) {
  if (kernel.isOurs) return "ours";
  if (kernel.certainty.empty()) return "-";
  return std::string(name(std::ranges::max(kernel.certainty)));
}

void printKernels(const ReadBackPlan& made) {
  printTitle(fmt::format("Kernels, as {}{}{} made them", made.compiler.name, made.compiler.version.empty() ? "" : " ",
                         made.compiler.version));
  Table table({{"#", true}, {"name"}, {"kind"}, {"compute"}, {"nodes", true}, {"bound"}, {"region"}, {"time", true}});
  for (const FusedNode& fused : made.fusedNodes) {
    const ReadBackPlan::Kernel& kernel = made.kernels[fused.id.index];
    table.add({std::to_string(fused.id.index), shortened(fused.name), fused.kind, typeText(fused.compute),
               std::to_string(fused.nodes.size()), certaintyText(kernel),
               (kernel.region.empty() ? "-" : shortened(kernel.region, 32)) + std::string(kernel.once ? ", once" : ""),
               msText(kernel.ms)});
  }
  table.print();
}

/// Prints the fates of the nodes that no kernel of the compiler contains, and the nodes that several kernels contain.
void printFates(const ReadBackPlan& made) {
  std::map<std::string, std::vector<std::string>> nodes;
  for (const NodeId node : made.graph().order()) {
    const std::string& name = made.graph().node(node).name;
    if (made.fateOf(node) != Fate::Kernel) {
      nodes[std::string(fusescope::name(made.fateOf(node)))].push_back(name);
    } else if (made.kernelsOf(node).size() > 1) {
      nodes["in several kernels"].push_back(name);
    }
  }
  if (nodes.empty()) return;
  printTitle("Nodes");
  Table table({{"fate"}, {"nodes", true}, {"such as"}});
  for (auto& [fate, names] : nodes) {
    const std::size_t all = names.size();
    names.resize(std::min(all, kMostNodesListed));
    for (std::string& name : names) name = shortened(name, 32);
    table.add({fate, std::to_string(all), joined(names) + (all > kMostNodesListed ? ", …" : "")});
  }
  table.print();
}

void printConversions(const ReadBackPlan& made) {
  if (made.conversions.empty()) return;
  printTitle("Conversions");
  Table table({{"value"}, {"from"}, {"to"}, {"by"}});
  for (const ReadBackConversion& conversion : made.conversions)
    table.add({conversion.value.valid() ? shortened(made.graph().value(conversion.value).name, 40) : "not disclosed",
               reportedText(conversion.from), reportedText(conversion.to),
               conversion.kernel.empty() ? "not disclosed" : conversion.kernel});
  table.print();
}

void printRefusals(const ReadBackPlan& made) {
  Table table({{"node"}, {"found by"}, {"why"}});
  for (const NodeSupport& support : made.support)
    if (support.isAccepted == false)
      table.add({shortened(support.node, 40), std::string(name(support.foundBy)), support.message});
  if (table.empty()) return;
  printTitle("Refused by the compiler");
  table.print();
}

/// Prints, for an engine that was built elsewhere, how its layers were placed in the network and where its times come
/// from.
void printPlacement(const ReadBackPlan& made) {
  const Placement& placement = *made.placement;
  if (!placement.unplaced.empty()) {
    printTitle("Layers that could not be placed");
    Table table({{"layer"}, {"why"}, {"it may contain"}});
    for (const UnplacedLayer& layer : placement.unplaced) {
      std::vector<std::string> nearest;
      for (const NodeId node : layer.nearest) nearest.push_back(shortened(made.graph().node(node).name, 32));
      table.add({shortened(layer.layer), layer.why, nearest.empty() ? "-" : joined(nearest)});
    }
    table.print();
  }
  std::cout << fmt::format("read from {}; nothing was built, run or timed here\n", joined(placement.files));
  std::cout << fmt::format("{}: {} placed, {} without nodes that only convert, move or synchronise, {} not placed\n",
                           counted(placement.layers, "layer"), placement.placed, placement.conversions,
                           placement.unplaced.size());
  const std::string device = placement.device.empty() ? "the files do not say on which device" : placement.device;
  if (!placement.times.empty())
    std::cout << fmt::format("times of kernels are {}, as a profiler measured them: {}\n", placement.times, device);
  if (placement.latencyMs)
    std::cout << fmt::format("a whole run took {}, the median of {}: {}\n", msText(placement.latencyMs),
                             counted(placement.runs.value_or(0), "run"), device);
}

/// Prints what else the compiler reported: sentences about the whole network, and why nodes are not accelerated. The
/// answers to pins have a table of their own.
void printSaid(const ReadBackPlan& made) {
  Table table({{"about"}, {"what the compiler says"}});
  std::map<std::string, std::size_t> printed;
  for (std::size_t i = made.requested->decisions.size(); i < made.decisions.size(); ++i) {
    const Decision& decision = made.decisions[i];
    const bool isSaid = decision.kind == DecisionKind::Build || decision.kind == DecisionKind::Cache;
    if (!isSaid || decision.code.starts_with("build.pin_")) continue;
    if (decision.subjects.empty() || decision.subjects.front().kind == SubjectKind::Segment) {
      const std::string about = decision.subjects.empty() ? "" : decision.subjects.front().text() + ": ";
      std::cout << about << message(decision) << "\n";
      continue;
    }
    if (decision.allowed || ++printed[decision.code] > kMostOfOneCode) continue;
    std::vector<std::string> subjects;
    for (const Subject& subject : decision.subjects) subjects.push_back(subject.text());
    table.add({shortened(joined(subjects), 40), message(decision)});
  }
  if (table.empty()) return;
  printTitle("What it says about nodes");
  table.print();
  for (const auto& [code, count] : printed)
    if (count > kMostOfOneCode) std::cout << fmt::format("  … and {} more of {}\n", count - kMostOfOneCode, code);
}

void printAgreement(const Agreement& agreement) {
  if (const std::string kernels = sharedKernelsText(agreement); !kernels.empty())
    std::cout << "our prediction: " << kernels << "\n";
  if (const std::string types = storedTypesText(agreement); !types.empty())
    std::cout << "types of our prediction: " << types << "\n";
}

}  // namespace

void printPins(const ReadBackPlan& made) {
  if (made.pins.empty()) return;
  printTitle("Types asked and granted");
  Table table({{"node"}, {"asked"}, {"granted"}, {"result"}, {"why"}});
  for (const ReadBackPin& pin : made.pins)
    table.add({shortened(made.graph().node(pin.node).name, 40), std::string(name(pin.asked)),
               pin.granted ? typeText(*pin.granted) : "not disclosed", std::string(name(pin.result)), pin.why});
  table.print();
}

void printTypesNotGiven(const Cover& cover) {
  for (const Decision& decision : typesNotGiven(cover)) std::cout << message(decision) << "\n";
}

void printRemarksAboutEngine(const Engine& engine, std::string_view before) {
  for (const Decision& decision : remarksAboutEngine(engine)) std::cout << before << message(decision) << "\n";
}

void printReadBack(const ReadBackPlan& made) {
  printKernels(made);
  if (made.placement)
    printTypesNotGiven(made);
  else
    printSaid(made);
  printFates(made);
  printConversions(made);
  printPins(made);
  printRefusals(made);
  printAgreement(made.agreement);
  if (made.placement) printPlacement(made);
}

}  // namespace fusescope::cli
