#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "app/cli/command.h"
#include "app/cli/read_back.h"
#include "app/cli/table.h"
#include "base/files.h"
#include "base/text.h"
#include "compilers/compiler.h"
#include "diff/truncation_diff.h"
#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "planning/plan_totals.h"
#include "planning/segment_borders.h"
#include "planning/segment_facts.h"
#include "planning/types/pin_answers.h"
#include "session/engine_prices.h"
#include "session/file_network.h"
#include "session/operations/plan_operation.h"

namespace fusescope::cli {
namespace {

/// The number of refusals of one code that are printed for people; --json lists all of them.
constexpr std::size_t kMostOfACode = 4;
/// The number of borders that are printed of one segment.
constexpr std::size_t kMostBorders = 12;

using PlanCommandArguments = ArgumentsOf<PlanCommandSettings>;

/// Returns the time of a segment's kernels: "1.2 ms", "1.2 ms and more" if some times are not known, "-" if none is.
std::string segmentTimeText(const SegmentTime& time) {
  if (!time.ms) return "-";
  return msText(time.ms) + (time.unknown > 0 ? " and more" : "");
}

/// Returns why a segment is in fallback, or why it begins where it does; a dash if nothing else ended before it.
std::string whyText(const Segment& segment, const SegmentFacts& known) {
  if (segment.kind == SegmentKind::Fallback) return reasonText(known);
  const bool isSeparated = !known.reasons.empty() && known.reasons.front().code != "partition.supported";
  return isSeparated ? known.reasons.front().message : "-";
}

/// Prints the segments of a plan, or of what a compiler made of it, and why nodes fall back.
void printSegments(const Cover& cover) {
  printTitle("Segments");
  const std::vector<SegmentFacts> facts = segmentFacts(cover);
  const bool isMade = cover.source == CoverSource::ReadBack;
  Table table({{"segment"}, {"kind"}, {"backend"}, {"nodes", true}, {isMade ? "timed" : "predicted", true}, {"why"}});
  for (const auto& segment : cover.segments) {
    const SegmentFacts& known = facts[segment.id.index];
    table.add({segment.name, std::string(name(segment.kind)), segment.backend, std::to_string(segment.nodes.size()),
               segmentTimeText(known.time), whyText(segment, known)});
  }
  table.print();
}

/// Prints the tensors that are passed between segments. Inputs and outputs of the network are listed only if they are
/// converted; `inspect` lists all of them.
void printBorders(const Plan& plan) {
  Table table({{"segment"}, {""}, {"value"}, {"other side"}, {"stored"}, {"bytes", true}, {"converted"}});
  const auto borders = segmentBorders(plan);
  for (const auto& segment : plan.segments) {
    std::size_t printed = 0;
    for (const SegmentBorder& border : borders[segment.id.index]) {
      if (!border.other.valid() && border.conversion == nullptr) continue;
      if (++printed > kMostBorders) continue;
      const PlannedCast* cast = border.conversion;
      table.add({segment.name, std::string(name(border.direction)),
                 shortened(plan.graph().value(border.value).name, 40),
                 border.other.valid() ? plan.segments[border.other.index].name : "the network",
                 std::string(name(border.type)), bytesText(border.bytes),
                 cast == nullptr
                     ? "-"
                     : fmt::format("{} to {}, {} moved", name(cast->from), name(cast->to), bytesText(cast->bytes))});
    }
    if (printed > kMostBorders)
      table.add({segment.name, "", fmt::format("… and {} more", printed - kMostBorders), "", "", "", ""});
  }
  if (table.empty()) return;
  printTitle("Segment borders");
  table.print();
}

/// Returns the types in which a fused node calculates: "f16", or "f16, f32" if a kernel mixes types.
std::string typesText(const Plan& plan, const FusedNode& fused) {
  std::vector<std::string> names;
  for (const DataType type : calculatedTypes(plan, fused)) names.emplace_back(name(type));
  return joined(names);
}

/// Returns work, bytes and time as ranges from the minimum to the maximum extents.
std::vector<std::string> rangeTexts(const CostRange& range) {
  const auto& [least, most] = range;
  return {rangeText(flopsText(least.flops), flopsText(most.flops)),
          rangeText(bytesText(least.bytes), bytesText(most.bytes)), rangeText(msText(least.ms), msText(most.ms))};
}

/// Returns whether the inputs' extents are open, so that there are ranges to show.
bool hasRanges(const Plan& plan) {
  return std::ranges::any_of(plan.fusedNodes, [](const FusedNode& fused) { return fused.range.has_value(); });
}

/// Prints work, bytes and time of the fused nodes at the minimum and maximum extents.
void printRanges(const Plan& plan) {
  if (!hasRanges(plan)) return;
  printTitle("At the minimum and at the maximum extents of the inputs");
  Table table({{"#", true}, {"name"}, {"work", true}, {"moved", true}, {"predicted", true}});
  for (const FusedNode& fused : plan.fusedNodes) {
    std::vector<std::string> cells{std::to_string(fused.id.index), shortened(fused.name)};
    for (std::string& text : rangeTexts(*fused.range)) cells.push_back(std::move(text));
    table.add(std::move(cells));
  }
  table.print();
}

/// Adds a row for each fused node. Each one with bodies is followed by the rows of its bodies' fused nodes, whose names
/// begin with the holder's.
void addFusedNodes(Table& table, const Plan& plan, const BodyPath& path) {
  for (const auto& fused : plan.fusedNodes) {
    table.add({path.isNetwork() ? std::to_string(fused.id.index) : std::string(), shortened(path.of(fused.name)),
               fused.kind, typesText(plan, fused), plan.segments[fused.segment.index].name,
               std::to_string(fused.nodes.size()), flopsText(fused.flops), bytesText(fused.bytes),
               predictedText(fused)});
    for (const CoverBody& body : plan.bodies)
      if (body.holder == fused.root) addFusedNodes(table, plannedBody(body), path.into(fused.name, body.attribute));
  }
}

void printFusedNodes(const Plan& plan) {
  printTitle(plan.target.predictedFusions
                 ? fmt::format("Fused nodes, as predicted: the compiler of {} fuses by its own rules", plan.target.name)
                 : std::string("Fused nodes"));
  Table table({{"#", true},
               {"name"},
               {"kind"},
               {"compute"},
               {"segment"},
               {"nodes", true},
               {"work", true},
               {"moved", true},
               {"predicted", true}});
  addFusedNodes(table, plan, {});
  table.print();
}

void printCasts(const Plan& plan) {
  if (plan.casts.empty()) return;
  printTitle("Casts");
  Table table({{"value"}, {"from"}, {"to"}, {"moved", true}, {"predicted", true}, {"reason"}});
  for (const auto& cast : plan.casts) {
    table.add({shortened(plan.graph().value(cast.value).name, 40), std::string(name(cast.from)),
               std::string(name(cast.to)), bytesText(cast.bytes), msText(cast.predictedMs, cast.predictedHow),
               cast.reason});
  }
  table.print();
}

void printTruncation(const Plan& plan) {
  const auto& truncation = plan.truncation;
  Table table({{"value"}, {"where"}, {"from"}, {"to"}});
  const auto add = [&](std::string_view where, const std::vector<TruncatedValue>& values) {
    for (const auto& value : values) {
      const std::string captured = value.capturedBy.empty() ? "" : ", captured";
      table.add({shortened(plan.graph().value(value.value).name, 40), std::string(where) + captured,
                 std::string(name(value.from)), std::string(name(value.to))});
    }
  };
  add("input", truncation.inputs);
  add("constant", truncation.constants);
  add("produced", truncation.produced);
  if (table.empty()) return;
  printTitle("Narrowed values");
  table.print();
}

/// Prints what the compiler does with values of types that the target lacks, beside what our plan does.
void printBeside(const TruncationDiff& diff) {
  printTitle(fmt::format("Truncation by {}, beside {}", diff.a, diff.b));
  Table table({{"value"}, {"is"}, {"type"}, {diff.a}, {diff.b}});
  for (const WideValue& each : diff.values)
    table.add({shortened(each.value, 40), std::string(each.role), toText(each.type), each.a.text(each.type),
               each.b.text(each.type)});
  table.print();
}

/// Returns whether a reader probably wants to see the decision: it answers a directive, or it refuses something.
bool isNotable(const Decision& decision) {
  if (decision.by.isDirective() || decision.code == "precision.pins_together" ||
      decision.code == "build.plan_made_anew" || decision.code == "validate.predicted_refusal")
    return true;
  if (decision.allowed) return false;
  return decision.kind == DecisionKind::Validate || decision.kind == DecisionKind::Partition ||
         decision.kind == DecisionKind::Precision || decision.kind == DecisionKind::Truncate;
}

/// Prints the decisions of a plan or, if `cover` was read back, also what the compiler did with directives.
void printDecisions(const Cover& cover) {
  const Plan& plan = requestedPlan(cover);
  Table table({{"about"}, {"decision"}, {"by"}});
  std::map<std::string, std::size_t> printed;
  for (std::uint32_t i = 0; i < cover.decisions.size(); ++i) {
    const Decision& decision = cover.decisions[i];
    if (!isNotable(decision) || ++printed[decision.code] > kMostOfACode) continue;
    std::vector<std::string> subjects;
    for (const auto& subject : decision.subjects) subjects.push_back(subject.text());
    if (subjects.empty()) subjects.emplace_back("(the plan)");
    const bool isOfPlan = i < plan.decisions.size();
    table.add(
        {shortened(joined(subjects), 40), isOfPlan ? answerText(plan, i) : message(decision), decision.by.text()});
  }
  if (table.empty()) return;
  printTitle("Decisions");
  table.print();
  for (const auto& [code, count] : printed) {
    if (count > kMostOfACode) std::cout << fmt::format("  … and {} more of {}\n", count - kMostOfACode, code);
  }
}

/// Returns the predicted time of the plan, which parts of it are known, and from which source.
std::string predictionText(const Plan& plan) {
  const PredictedTime time = predictedTime(plan);
  const auto all = std::ssize(plan.fusedNodes) + std::ssize(plan.casts);
  if (time.unknown == all) return "time not yet measured";
  if (time.unknown > 0)
    return fmt::format("time unknown: {} of {} kernels and conversions have no price", time.unknown, all);
  if (!plan.predictedMs)
    return fmt::format("predicted {}, depending on the branches taken",
                       rangeText(time.leastMs, time.mostMs, PriceSource::Fitted));
  if (time.fittedMs == 0) return "predicted " + msText(plan.predictedMs);
  return fmt::format("predicted {} ({} measured, {} fitted)", msText(plan.predictedMs, PriceSource::Fitted),
                     msText(time.measuredMs), msText(time.fittedMs, PriceSource::Fitted));
}

/// Prints work, bytes and time of the whole plan at the minimum and maximum extents, as far as they are known.
void printRangeOfAll(const CostRange& range) {
  const auto& [least, most] = range;
  const std::vector<std::string> texts = rangeTexts(range);
  std::vector<std::string> known;
  if (least.flops || most.flops) known.push_back("work " + texts[0]);
  if (least.bytes || most.bytes) known.push_back("moved " + texts[1]);
  if (least.ms || most.ms) known.push_back("time " + texts[2]);
  if (!known.empty()) std::cout << fmt::format("at the minimum and at the maximum extents: {}\n", joined(known));
}

void printSummary(const Plan& plan) {
  const PlanTotals totals = totalsWithoutBodies(plan);
  const auto accelerated = std::ranges::count(plan.segments, SegmentKind::Accelerated, &Segment::kind);
  std::cout << fmt::format("{}: {} of the file in {} and {} ({} accelerated), {}, {}, {}\n", plan.options.target,
                           counted(plan.model->fileNodes, "node"), counted(std::ssize(plan.fusedNodes), "fused node"),
                           counted(std::ssize(plan.segments), "segment"), accelerated,
                           counted(std::ssize(plan.casts), "cast"),
                           totals.flops ? flopsText(totals.flops) : "work unknown", predictionText(plan));
  for (const ExtentCondition& condition : plan.model->conditions)
    std::cout << fmt::format("{} {} ({})\n", condition.demanded ? "is known to work where" : "on condition that",
                             condition.text(), condition.node);
  if (totals.range) printRangeOfAll(*totals.range);
  if (plan.bodies.empty()) return;
  const BodyTotals bodies = totalsOfBodies(plan);
  std::cout << fmt::format("not counted: {} with {}, {}, {} each time they run\n",
                           bodies.bodies == 1 ? std::string("1 body") : std::to_string(bodies.bodies) + " bodies",
                           counted(bodies.inside.fusedNodes, "fused node"), counted(bodies.inside.casts, "cast"),
                           bodies.inside.flops ? flopsText(bodies.inside.flops) : "work unknown");
}

/// Names the compiler that the plan predicts, if it is one that can be asked itself.
void printPredictedCompiler(const Plan& plan) {
  if (plan.options.compiler != kOwnCompiler) return;
  for (const Compiler* compiler : allCompilers())
    if (compiler->target() == plan.target.name) {
      std::cout << fmt::format("this is a prediction of what {} makes; where it is installed, --compiler {} asks it\n",
                               compiler->name(), compiler->name());
      return;
    }
}

/// Prints where the plan's times were measured, if that was not on this machine.
void printPriceOrigins(const Artifact& artifact) {
  const Plan& plan = *artifact.plan;
  if (!plan.target.planningOnly || predictedTime(plan).measuredMs == 0) return;
  const auto prices = pricesOf(plan, artifact.backend);
  const std::vector<std::string> origins = prices == nullptr ? std::vector<std::string>() : priceOrigins(plan, *prices);
  for (const std::string& origin : origins) std::cout << fmt::format("times were measured by {}\n", origin);
}

/// Returns "as MatMul_1, Add_1" if other nodes of the network represent the node of the file, and otherwise why none
/// does.
std::string aboutText(const FileNodeFate& node) {
  if (node.representedBy.empty()) return node.why;
  constexpr std::size_t kMost = 3;
  std::vector<std::string> names = node.representedBy;
  names.resize(std::min(names.size(), kMost));
  const std::string more =
      node.representedBy.size() > kMost ? fmt::format(" and {} more", node.representedBy.size() - kMost) : "";
  return "as " + joined(names) + more;
}

/// Prints the nodes of the file in the order of the file, each with its fate.
void printFileNodes(const FileNetwork& file, const Cover& cover, const InFileNodes& in) {
  printTitle(fmt::format("Nodes of {}, and what became of them", file.model->path));
  Table table({{"node"}, {"operator"}, {"became"}, {"in"}, {"about it"}});
  std::map<std::string, std::int64_t> counts;
  for (const FileNodeFate& node : in.nodes) {
    const Origin& origin = file.model->origins[node.origin.index];
    const std::string fate = fateText(file, node);
    ++counts[fate];
    std::vector<std::string> kernels;
    for (const FusedNodeId kernel : node.kernels) kernels.push_back(shortened(cover.fusedNodes[kernel.index].name, 40));
    table.add({shortened(origin.name, 40), origin.domain.empty() ? origin.op : origin.domain + "::" + origin.op, fate,
               kernels.empty() ? "-" : joined(kernels), aboutText(node)});
  }
  table.print();
  std::vector<std::string> totals;
  for (const auto& [fate, count] : counts) totals.push_back(fmt::format("{} {}", count, fate));
  std::cout << fmt::format("{} of the file in {}: {}\n", counted(std::ssize(in.nodes), "node"),
                           counted(std::ssize(cover.fusedNodes), "fused node"), joined(totals));
}

/// Prints the pins marked obey that the plan refuses, or that the compiler did not obey. Returns whether there are any.
bool reportRefusals(const Artifact& artifact) {
  const bool isRefused = reportObeyRefusals(*artifact.plan);
  return reportUnobeyedPins(artifact.cover()) || isRefused;
}

Result<int> printOriginal(const PlanCommandArguments& arguments, const Artifact& artifact) {
  const FileNetwork file = TRY(openFileNetwork(*artifact.plan));
  const InFileNodes in = TRY(inFileNodes(file, artifact.cover()));
  if (arguments.json) {
    printJson(fileNodesJson(file, artifact.cover(), in));
  } else {
    printFileNodes(file, artifact.cover(), in);
  }
  return reportRefusals(artifact) ? kDoesNotHold : kDone;
}

Result<int> makeAndPrint(const PlanCommandArguments& arguments) {
  auto artifact = TRY(open(arguments.path, arguments.plan));
  if (!arguments.output.empty()) TRY(checkOutput(arguments.output, "--output", artifact));
  TRY(readBack(artifact));
  const auto& plan = *artifact.plan;
  if (!arguments.output.empty())
    TRY(writeFileAtomically(arguments.output,
                            coverJson(artifact.cover()).dump(1, ' ', false, Json::error_handler_t::replace) + "\n"));
  if (arguments.original) return printOriginal(arguments, artifact);
  std::optional<TruncationBeside> beside;
  if (artifact.made != nullptr) beside = TRY(truncationBeside(*artifact.made, plan.options.directives));
  if (arguments.json) {
    Json json = coverJson(artifact.cover());
    if (beside) json["truncation_beside"] = toJson(beside->diff);
    printJson(json);
  } else if (artifact.made != nullptr) {
    printSegments(*artifact.made);
    printReadBack(*artifact.made);
    if (beside) printBeside(beside->diff);
    printDecisions(*artifact.made);
  } else {
    printSegments(plan);
    printBorders(plan);
    printFusedNodes(plan);
    printRanges(plan);
    printCasts(plan);
    printTruncation(plan);
    printDecisions(plan);
    printSummary(plan);
    printPriceOrigins(artifact);
    printPredictedCompiler(plan);
  }
  return reportRefusals(artifact) ? kDoesNotHold : kDone;
}

}  // namespace

Command planCommand(CLI::App& app) {
  return commandOf<PlanCommandSettings>(app, planOperation(), makeAndPrint);
}

}  // namespace fusescope::cli
