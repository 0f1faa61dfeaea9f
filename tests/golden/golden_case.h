#pragma once

#include <string>
#include <vector>

#include "planning/plan.h"

// What cases of several kinds have in common: tests/golden/FOLDER/NAME.txt, lines of "# …", a network as text
// (ir/FORMAT.md), "---" and what is expected.

namespace fusescope::test {

std::string goldenFolder(const std::string& folder);
/// In alphabetical order.
std::vector<std::string> goldenNames(const std::string& folder);
std::vector<std::string> words(const std::string& line);

/// The text of a case: what stands above "---", and below.
struct GoldenText {
  std::string head, expected;
};
GoldenText readGolden(const std::string& folder, const std::string& name);
/// Holds `text` against what is expected; with UPDATE_GOLDEN=1 in the environment writes it there.
void expectGolden(const std::string& folder, const std::string& name, const GoldenText& golden,
                  const std::string& text);

/// "cpu:avx2 --precision f16 --pin a=f32": a target, then --precision and options of directives.
PlanOptions readOptions(const std::vector<std::string>& words);
/// The network of a text without its lines of "#". Each node is a node of the file; open extents run from 1 to 64.
Result<Model> modelOfText(const std::string& name, const std::string& text);

}  // namespace fusescope::test
