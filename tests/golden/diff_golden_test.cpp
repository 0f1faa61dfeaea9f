#include <gtest/gtest.h>

#include <sstream>

#include "diff/diff_plans.h"
#include "tests/golden/golden_case.h"

// One file per case, tests/golden/diffs/NAME.txt: one network, or two with a line of "===" between them, how each side
// is planned, and what `fusescope diff` prints of them.
//
//   # a cpu:avx2 --precision f16          target, then --precision and options of directives
//   # b cpu:avx2 --pin a=f32
//   graph "…" { … }
//   ---
//   the text; UPDATE_GOLDEN=1 writes all below --- anew

namespace fusescope::test {
namespace {

const std::string kDiffFolder = "diffs";

struct DiffCase {
  GoldenText text;
  PlanOptions a, b;
};

DiffCase readDiffCase(const std::string& name) {
  DiffCase golden{.text = readGolden(kDiffFolder, name)};
  std::istringstream lines(golden.text.head);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#")) continue;
    const std::vector<std::string> all = words(line.substr(1));
    if (all.empty() || (all[0] != "a" && all[0] != "b")) {
      ADD_FAILURE() << name << ": " << line;
      continue;
    }
    (all[0] == "a" ? golden.a : golden.b) = readOptions({all.begin() + 1, all.end()});
  }
  return golden;
}

Result<std::shared_ptr<const Plan>> planOf(const std::string& name, const std::string& network,
                                           const PlanOptions& options) {
  return makePlan(std::make_shared<const Model>(TRY(modelOfText(name, network))), options);
}

class DiffGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(DiffGolden, IsAsWritten) {
  const DiffCase golden = readDiffCase(GetParam());
  const std::string& head = golden.text.head;
  const std::size_t border = head.find("\n===\n");
  const auto a = planOf("a", head.substr(0, border), golden.a);
  const auto b = planOf("b", border == std::string::npos ? head : head.substr(border + 5), golden.b);
  ASSERT_TRUE(a.ok()) << a.error().text();
  ASSERT_TRUE(b.ok()) << b.error().text();
  const auto diff = diffPlans({.cover = a.value().get(), .label = "a"}, {.cover = b.value().get(), .label = "b"});
  ASSERT_TRUE(diff.ok()) << diff.error().text();
  expectGolden(kDiffFolder, GetParam(), golden.text, printDiff(diff.value()));
}

INSTANTIATE_TEST_SUITE_P(Diffs, DiffGolden, ::testing::ValuesIn(goldenNames(kDiffFolder)),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace fusescope::test
