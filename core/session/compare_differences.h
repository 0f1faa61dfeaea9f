#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace fusescope {

struct Cover;

/// In what two engines that are timed together differ, besides their plans.
enum class ComparedDifferenceKind {
  Compiler,  ///< two compilers made them
  Version,   ///< one compiler made them, in two versions
  Options,   ///< one compiler made them, with other options
  Types,     ///< their nodes calculate in other types
  Threads    ///< they run on other numbers of threads
};
std::string_view name(ComparedDifferenceKind kind);  ///< "compiler", …

struct ComparedDifference {
  ComparedDifferenceKind kind = ComparedDifferenceKind::Compiler;
  std::string a, b;  ///< "onnxruntime", "level=basic", "bf16 and f32"; empty: there is none, or it is not reported
  bool operator==(const ComparedDifference&) const = default;
};

/// Returns in what two engines differ that run what the covers describe.
std::vector<ComparedDifference> comparedDifferences(const Cover& a, const Cover& b, int threadsOfA, int threadsOfB);

/// Returns ", but A calculates in f32 and B in bf16 and f32", which belongs into the sentence that says which is
/// faster; empty if their types are the same.
std::string typesClause(const std::vector<ComparedDifference>& differences);
/// Returns "what differs: compiler: A onnxruntime, B openvino; types: …"; empty if nothing does.
std::string differencesText(const std::vector<ComparedDifference>& differences);

Json toJson(const ComparedDifference& difference);
Result<ComparedDifference> comparedDifferenceFromJson(const Json& json);

}  // namespace fusescope
