// Networks that differ in one thing are never taken for each other: neither by what their kernels are found by, nor by
// the fingerprint under which answers of other compilers are kept.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>

#include "base/json.h"
#include "base/sanitizers.h"
#include "tests/unit/cache/network_keys.h"

namespace fusescope::test {
namespace {

constexpr int kMutantsOfEach = 16;
constexpr int kUsualBases = 32;
constexpr int kMostTries = 24;  ///< to change one kind of thing of a network so that it stays one
constexpr int kRunsOneOf = 24;  ///< mutants of this many are run, and all those whose kernels share code

/// Returns how many networks have mutants. FUSESCOPE_MUTANTS is the number of mutants that is asked for; sanitizers
/// take several times as long.
int bases() {
  if (const char* asked = std::getenv("FUSESCOPE_MUTANTS"); asked != nullptr)
    return std::max(1, std::atoi(asked) / kMutantsOfEach);
  return FUSESCOPE_ADDRESS_SANITIZER + FUSESCOPE_THREAD_SANITIZER > 0 ? 8 : kUsualBases;
}

/// Knows all keys of one kind that were made, and what they were made for.
class FoundBy {
 public:
  /// Returns whether the key is also that of something that means another thing.
  bool isAnothers(const KeyOfMeaning& key) { return m_all.emplace(key.key, key.meaning).first->second != key.meaning; }

 private:
  std::map<Hash128, Hash128> m_all;
};

struct KindCount {
  int mutants = 0, equal = 0, network = 0, region = 0, request = 0, code = 0, timing = 0, tactics = 0, ran = 0,
      wrong = 0;
  int collisions() const { return network + region + request + code + timing + tactics + wrong; }
};

class Mutants : public ::testing::Test {
 protected:
  /// Counts what is found by a key of this network and is of another.
  void count(const NetworkKeys& keys, KindCount& count) {
    count.network += m_networks.isAnothers(keys.network) ? 1 : 0;
    for (const RegionKeys& region : keys.regions) {
      count.region += m_regions.isAnothers(region.region) ? 1 : 0;
      count.request += m_requests.isAnothers(region.request) ? 1 : 0;
      count.code += m_code.isAnothers(region.code) ? 1 : 0;
      count.timing += m_timings.isAnothers(region.timing) ? 1 : 0;
      count.tactics += m_tactics.isAnothers(region.tactics) ? 1 : 0;
    }
  }
  /// Returns whether the networks have kernels of one code which are not of one meaning, as those of other weights.
  static bool shareCode(const NetworkKeys& a, const NetworkKeys& b) {
    return std::ranges::any_of(a.regions, [&](const RegionKeys& one) {
      return std::ranges::any_of(b.regions, [&](const RegionKeys& other) {
        return one.code.key == other.code.key && one.request.meaning != other.request.meaning;
      });
    });
  }
  static void print(const std::map<std::string, KindCount>& counts);

  KeyMaker m_keys;
  FoundBy m_networks, m_regions, m_requests, m_code, m_timings, m_tactics;
};

void Mutants::print(const std::map<std::string, KindCount>& counts) {
  KindCount all;
  const auto row = [](const std::string& kind, const KindCount& count) {
    std::cout << fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", kind, count.mutants,
                             count.equal, count.network, count.region, count.request, count.code, count.timing,
                             count.tactics, count.ran, count.wrong);
  };
  std::cout << "| changed | mutants | equal | network | region | request | code | timing | tactics | run | wrong |\n"
               "|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [kind, count] : counts) {
    row(kind, count);
    for (const auto field :
         {&KindCount::mutants, &KindCount::equal, &KindCount::network, &KindCount::region, &KindCount::request,
          &KindCount::code, &KindCount::timing, &KindCount::tactics, &KindCount::ran, &KindCount::wrong})
      all.*field += count.*field;
  }
  row("all", all);
}

TEST_F(Mutants, AreNeverServedWhatIsOfAnother) {
  MutantChoices choices(20261127);
  std::map<std::string, KindCount> counts;
  KindCount ofBases;
  int all = 0, next = 0, tries = 0;
  for (int i = 0; i < bases();) {
    m_keys.removeFiles();
    const MutantNetwork base = mutantBase(choices.seed());
    const auto of = m_keys.keysOf(base);
    if (!of) continue;
    ++i;
    count(*of, ofBases);
    for (int j = 0; j < kMutantsOfEach;) {
      MutantNetwork mutant = base;
      const std::string kind = mutate(mutant, next, choices);
      const auto other = kind.empty() ? std::nullopt : m_keys.keysOf(mutant);
      if (!other && ++tries < kMostTries) continue;
      next = (next + 1) % kMutationKinds;
      tries = 0;
      if (!other) continue;
      ++j;
      KindCount& counted = counts[kind];
      ++counted.mutants;
      const int before = counted.collisions();
      count(*other, counted);
      if (kind == kOnlyNames) {
        EXPECT_EQ(other->network.key, of->network.key) << base.text();
        EXPECT_EQ(other->regions, of->regions) << base.text();
      }
      const bool isEqual = other->network.meaning == of->network.meaning && other->regions == of->regions;
      counted.equal += isEqual ? 1 : 0;
      if (!isEqual && (++all % kRunsOneOf == 0 || shareCode(*of, *other))) {
        ++counted.ran;
        counted.wrong += isRightBehind(of->plan, other->plan) ? 0 : 1;
      }
      if (counted.collisions() != before)
        ADD_FAILURE() << kind << " for " << mutant.asking.options.compiler << "\n"
                      << toJson(mutant.asking.options.directives).dump() << "\n"
                      << base.text() << "\n"
                      << mutant.text();
    }
  }
  print(counts);
  for (const auto& [kind, count] : counts) EXPECT_EQ(count.equal == count.mutants, kind == kOnlyNames) << kind;
  if (bases() >= kUsualBases) {  // fewer networks may have no node of a kind
    EXPECT_EQ(counts.size(), std::size_t{kMutationKinds});
  }
  EXPECT_EQ(ofBases.collisions(), 0);
}

/// A slice of no columns, to which a number for each row is added. Its kernel divided by the length of its rows.
TEST_F(Mutants, MayHaveEmptyTensors) {
  MutantNetwork network;
  network.constants = {
      {"from", {"int64", {1}, {1}}}, {"axis", {"int64", {1}, {2}}}, {"w", {"T", {network.rows, 1}, {1, 2, 3}}}};
  network.nodes = {{"Slice", {"x", "from", "from", "axis"}, {"v"}, {}, {}}, {"Add", {"v", "w"}, {"z"}, {}, {}}};
  network.outputs = {"z"};
  network.asking.options.compiler = network.asking.options.target = "onnxruntime";
  const auto keys = m_keys.keysOf(network);
  ASSERT_TRUE(keys);
  EXPECT_TRUE(isRightBehind(keys->plan, keys->plan));
}

}  // namespace
}  // namespace fusescope::test
