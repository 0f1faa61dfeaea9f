#include "session/compare_differences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "planning/read_back/read_back_plan.h"

namespace fusescope {
namespace {

const std::vector<std::string_view> kDifferenceKinds{"compiler", "version", "options", "types", "threads"};

/// Returns whether times compare different calculations if only one side has kernels of this type. This is true of
/// floats and quantised codes. Truths and indexes have the same types by every compiler; a side without them has merely
/// folded their nodes, or calculates them inside other kernels.
bool isChosenType(DataType type) {
  constexpr int kMostBitsOfCodes = 8;
  return isFloat(type) || (isInteger(type) && bitWidth(type) <= kMostBitsOfCodes);
}

/// Adds the types of floats and of quantised codes in which nodes of the cover and of its bodies calculate.
void addTypes(const Cover& cover, std::set<DataType>& types) {
  std::ranges::copy_if(cover.calculates, std::inserter(types, types.end()), isChosenType);
  for (const CoverBody& body : cover.bodies) addTypes(*body.cover, types);
}

std::string typesOf(const Cover& cover) {
  std::set<DataType> types;
  addTypes(cover, types);
  std::vector<std::string> names;
  for (const DataType type : types) names.emplace_back(name(type));
  return joined(names, " and ");
}

std::string givenOptions(const ReadBackPlan& made) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : made.compiler.options) texts.push_back(key + "=" + value);
  return joined(texts, ", ");
}

}  // namespace

std::string_view name(ComparedDifferenceKind kind) {
  return kDifferenceKinds[static_cast<std::size_t>(kind)];
}

std::vector<ComparedDifference> comparedDifferences(const Cover& a, const Cover& b, int threadsOfA, int threadsOfB) {
  using Kind = ComparedDifferenceKind;
  std::vector<ComparedDifference> differences;
  const auto add = [&](Kind kind, std::string ofA, std::string ofB) {
    if (ofA != ofB) differences.push_back({kind, std::move(ofA), std::move(ofB)});
  };
  const ReadBackPlan* madeOfA = asReadBack(a);
  const ReadBackPlan* madeOfB = asReadBack(b);
  const auto compiler = [](const ReadBackPlan* made) {
    return made == nullptr ? std::string(kOwnCompiler) : made->compiler.name;
  };
  add(Kind::Compiler, compiler(madeOfA), compiler(madeOfB));
  if (madeOfA != nullptr && madeOfB != nullptr && differences.empty()) {
    add(Kind::Version, madeOfA->compiler.version, madeOfB->compiler.version);
    add(Kind::Options, givenOptions(*madeOfA), givenOptions(*madeOfB));
  }
  add(Kind::Types, typesOf(a), typesOf(b));
  add(Kind::Threads, std::to_string(threadsOfA), std::to_string(threadsOfB));
  return differences;
}

std::string typesClause(const std::vector<ComparedDifference>& differences) {
  const auto types = std::ranges::find(differences, ComparedDifferenceKind::Types, &ComparedDifference::kind);
  if (types == differences.end()) return {};
  const auto side = [](const std::string& named) {
    return named.empty() ? std::string("types that are not disclosed") : named;
  };
  return fmt::format(", but A calculates in {} and B in {}", side(types->a), side(types->b));
}

std::string differencesText(const std::vector<ComparedDifference>& differences) {
  if (differences.empty()) return {};
  std::vector<std::string> texts;
  for (const ComparedDifference& difference : differences) {
    const bool isOptional = difference.kind == ComparedDifferenceKind::Options;
    const auto side = [&](const std::string& text) {
      return !text.empty() ? text : isOptional ? std::string("none") : std::string("not disclosed");
    };
    texts.push_back(fmt::format("{}: A {}, B {}", name(difference.kind), side(difference.a), side(difference.b)));
  }
  return "what differs: " + joined(texts, "; ");
}

Json toJson(const ComparedDifference& difference) {
  const auto side = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {{"kind", name(difference.kind)}, {"a", side(difference.a)}, {"b", side(difference.b)}};
}

Result<ComparedDifference> comparedDifferenceFromJson(const Json& json) {
  ComparedDifference difference;
  JsonFields fields(json);
  fields.require("kind").readName("kind", kDifferenceKinds, difference.kind);
  fields.read("a", difference.a).read("b", difference.b);
  return fields.result(std::move(difference));
}

}  // namespace fusescope
