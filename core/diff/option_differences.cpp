#include "diff/option_differences.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "calibration/ranges.h"
#include "planning/same_plan_options.h"

namespace fusescope {

namespace {

Directives plain(const Directives& directives) {
  Directives all;
  for (const Directive& directive : directives) all.push_back(withoutWords(directive));
  return all;
}

/// Returns the directives of `some` that `others` does not have, each as often as it occurs more often.
Directives missing(const Directives& some, Directives others) {
  Directives left;
  for (const Directive& directive : some) {
    const auto found = std::ranges::find(others, directive);
    if (found == others.end()) {
      left.push_back(directive);
    } else {
      others.erase(found);
    }
  }
  return left;
}

/// Returns a text that distinguishes ranges.
std::string rangesText(const PlanOptions& options) {
  return options.ranges == nullptr ? "without --ranges"
                                   : "--ranges " + options.ranges->contentHash().hex().substr(0, 8);
}

std::string weightOnlyText(const PlanOptions& options) {
  const auto [type, block] = options.weightOnly;
  if (type == DataType::Undefined) return "without --weight-only";
  return "--weight-only " + std::string(name(type)) + (block == 0 ? "" : " --block " + std::to_string(block));
}

bool sameSupport(const PlanOptions& a, const PlanOptions& b) {
  return a.support == b.support || (a.support != nullptr && b.support != nullptr && *a.support == *b.support);
}

/// Returns a text about what the compiler of a side answered about its nodes.
std::string supportText(const PlanOptions& options, const char* side) {
  return (options.support == nullptr ? "without what " : "what ") + options.compiler + " says of the nodes of " + side;
}

std::string compilerOptionsText(const std::map<std::string, std::string>& options) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : options) texts.push_back("--compiler-option " + name + "=" + value);
  return texts.empty() ? "without --compiler-option" : joined(texts, " ");
}

/// The differences, each with its directive.
struct Listed {
  Difference difference;
  Directive directive = {};
};

std::vector<Listed> listed(const PlanOptions& a, const PlanOptions& b) {
  std::vector<Listed> all;
  const auto add = [&](DifferenceKind kind, std::string ofA, std::string ofB) {
    if (ofA != ofB) all.push_back({{kind, std::move(ofA), std::move(ofB)}});
  };
  add(DifferenceKind::Compiler, "--compiler " + a.compiler, "--compiler " + b.compiler);
  if (a.compiler == b.compiler)
    add(DifferenceKind::Compiler, compilerOptionsText(a.compilerOptions), compilerOptionsText(b.compilerOptions));
  if (a.compiler == b.compiler && !sameSupport(a, b))
    add(DifferenceKind::Compiler, supportText(a, "A"), supportText(b, "B"));
  add(DifferenceKind::Target, "--target " + a.target, "--target " + b.target);
  add(DifferenceKind::Precision, "--precision " + precisionText(a), "--precision " + precisionText(b));
  add(DifferenceKind::Workspace, "--workspace " + std::to_string(a.workspaceBytes),
      "--workspace " + std::to_string(b.workspaceBytes));
  add(DifferenceKind::Ranges, rangesText(a), rangesText(b));
  add(DifferenceKind::WeightOnly, weightOnlyText(a), weightOnlyText(b));
  const Directives ofA = plain(a.directives), ofB = plain(b.directives);
  for (const Directive& directive : missing(ofA, ofB))
    all.push_back({{DifferenceKind::Directive, optionText(directive), {}}, directive});
  for (const Directive& directive : missing(ofB, ofA))
    all.push_back({{DifferenceKind::Directive, {}, optionText(directive)}, directive});
  if (missing(ofA, missing(ofA, ofB)) != missing(ofB, missing(ofB, ofA))) {
    const auto order = [](const Directives& directives) {
      std::vector<std::string> texts;
      for (const Directive& directive : directives) texts.push_back(optionText(directive));
      return joined(texts, " ");
    };
    all.push_back({{DifferenceKind::DirectiveOrder, order(ofA), order(ofB)}});
  }
  return all;
}

}  // namespace

std::string precisionText(const PlanOptions& options) {
  std::vector<std::string> names;
  for (const DataType type : options.precisions) names.emplace_back(name(type));
  return names.empty() ? "f32" : joined(names, ",");
}

std::vector<Difference> optionDifferences(const PlanOptions& a, const PlanOptions& b) {
  std::vector<Difference> differences;
  for (Listed& each : listed(a, b)) differences.push_back(std::move(each.difference));
  return differences;
}

std::vector<std::vector<std::size_t>> differenceGroups(const PlanOptions& a, const PlanOptions& b, std::size_t most) {
  const std::vector<Listed> all = listed(a, b);
  for (const bool byType : {true, false}) {
    std::vector<std::vector<std::size_t>> groups;
    std::map<std::tuple<DirectiveKind, DataType, bool>, std::size_t> known;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto& [difference, directive] = all[i];
      const bool isDirective = difference.kind == DifferenceKind::Directive;
      const auto key = byType ? std::tuple(directive.kind, directive.type, difference.a.empty())
                              : std::tuple(DirectiveKind{}, DataType::Undefined, false);
      const auto [place, isNew] = isDirective ? known.try_emplace(key, groups.size()) : std::pair(known.end(), true);
      if (isNew)
        groups.push_back({i});
      else
        groups[place->second].push_back(i);
    }
    if (groups.size() <= most || !byType) return groups;
  }
  return {};
}

std::string compilerText(const CompilerIdentity& compiler) {
  return compiler.version.empty() ? compiler.name : compiler.name + " " + compiler.version;
}

void addCompilerDifferences(const Cover& a, const Cover& b, std::vector<Difference>& differences) {
  const ReadBackPlan* readBackOfA = asReadBack(a);
  const ReadBackPlan* readBackOfB = asReadBack(b);
  if (readBackOfA == nullptr || readBackOfB == nullptr) return;
  const CompilerIdentity& ofA = readBackOfA->compiler;
  const CompilerIdentity& ofB = readBackOfB->compiler;
  if (ofA.name != ofB.name) return;  // the options contain this already
  const auto add = [&](std::string inA, std::string inB) {
    if (inA != inB) differences.push_back({DifferenceKind::Compiler, std::move(inA), std::move(inB)});
  };
  const auto where = [](const CompilerIdentity& compiler) {
    return compiler.name + " in " + (compiler.environment.empty() ? "this program" : compiler.environment);
  };
  const bool isAskedAlike = differences.empty();
  add(compilerText(ofA), compilerText(ofB));
  add(where(ofA), where(ofB));
  const auto &askedOfA = a.options.compilerOptions, &askedOfB = b.options.compilerOptions;
  // The compiler determines the target by its options.
  if (askedOfA != askedOfB)
    std::erase_if(differences, [](const Difference& each) { return each.kind == DifferenceKind::Target; });
  std::set<std::string> keys;
  for (const CompilerIdentity* compiler : {&ofA, &ofB})
    for (const auto& [key, value] : compiler->options) keys.insert(key);
  for (const std::string& key : keys) {
    // What was asked for is listed already, and what was granted follows from it.
    if (askedOfA.contains(key) || askedOfB.contains(key) || (!isAskedAlike && key.starts_with("granted_"))) continue;
    const auto option = [&](const CompilerIdentity& compiler) {
      const auto found = compiler.options.find(key);
      return found == compiler.options.end() ? "" : compiler.name + " with " + key + "=" + found->second;
    };
    add(option(ofA), option(ofB));
  }
}

PlanOptions takenOver(PlanOptions options, const PlanOptions& a, const PlanOptions& b, std::size_t place,
                      bool optionsOfA) {
  const Listed each = listed(a, b)[place];
  const PlanOptions& other = optionsOfA ? b : a;
  switch (each.difference.kind) {
    case DifferenceKind::Compiler:
      options.compiler = other.compiler;
      options.compilerOptions = other.compilerOptions;
      options.support = other.support;
      break;
    case DifferenceKind::Target:
      options.target = other.target;
      break;
    case DifferenceKind::Precision:
      options.precisions = other.precisions;
      break;
    case DifferenceKind::Workspace:
      options.workspaceBytes = other.workspaceBytes;
      break;
    case DifferenceKind::Ranges:
      options.ranges = other.ranges;
      break;
    case DifferenceKind::WeightOnly:
      options.weightOnly = other.weightOnly;
      break;
    case DifferenceKind::Directive: {
      const bool has = optionsOfA != each.difference.a.empty();
      const auto found = std::ranges::find(options.directives, each.directive, withoutWords);
      if (has && found != options.directives.end()) options.directives.erase(found);
      if (!has) options.directives.push_back(each.directive);
      break;
    }
    case DifferenceKind::DirectiveOrder:
      std::ranges::stable_sort(options.directives, {}, [&](const Directive& directive) {
        return std::ranges::find(other.directives, withoutWords(directive), withoutWords) - other.directives.begin();
      });
      break;
    default:
      break;
  }
  return options;
}

}  // namespace fusescope
