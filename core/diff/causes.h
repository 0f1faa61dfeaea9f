#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "diff/file_match.h"
#include "diff/plan_diff.h"
#include "diff/plan_facts.h"

namespace fusescope {

/// Finds the differences between the options and networks of two plans that caused a change. If there is one
/// difference, it is the cause. Otherwise the plans are made again with one difference applied at a time, to A's
/// options on A's network and in reverse to B's options on B's network. A difference is a cause if A shows the change
/// with it, or if B does not show it without it. Ranges and the option that asks for int8 are applied together, because
/// neither works alone. If there are many differences, groups of them are tried, then halves of the groups that change
/// something, up to the limit on plans. If a group cannot be halved further, its causes are the differences that a
/// decision about the place names, or else the whole group. If prices chose types and no prices are given, decisions
/// that name a directive are used. Not thread-safe.
class CauseFinder {
 public:
  /// The largest number of differences, or groups of them, that are tried; each needs two plans.
  static constexpr std::size_t kMostTried = 16;

  /// Creates the finder. `levels`, `files` (of the levels), `a`, `b` and `diff`, whose networks and options are
  /// compared, must outlive it. Adds to PlanDiff::differences those that only show in plans: measured times, and rules
  /// of another version. Errors: cancelled.
  static Result<CauseFinder> make(const std::vector<PlanLevel>& levels, const std::vector<FileMatch>& files,
                                  const Plan& a, const Plan& b, PlanDiff& diff, const PriceModel* prices,
                                  const StopToken& stop);

  /// Returns the causes of a change of these nodes (PlanLevel::nodeNumberOfA()).
  Causes ofNodes(std::size_t place, Aspect aspect, std::span<const std::uint32_t> things) const;
  /// Returns the causes of a change of a value of A or of B.
  Causes ofValue(std::size_t place, Aspect aspect, bool ofA, ValueId value) const;
  /// Returns the things that make and read a value of A or of B.
  std::vector<std::uint32_t> nodesAt(std::size_t place, bool ofA, ValueId value) const;
  /// Returns the directive that caused a decision which only one side has; nothing if no directive caused it.
  Causes ofDirective(const Decision* a, const Decision* b) const;
  /// Returns the causes of a change in the summary of all pins: the pins that differ between the sides.
  Causes ofPins() const;

 private:
  struct Trial {
    std::vector<std::size_t> differences;  ///< the differences that were applied
    bool ofA;
    std::vector<LevelFacts> facts;  ///< by level
  };
  struct Taken {
    PlanOptions options;
    std::vector<std::size_t> differences;
  };
  using Found = std::vector<char>;  ///< by difference: whether it is a cause
  using Group = std::vector<std::size_t>;

  CauseFinder(const std::vector<PlanLevel>& levels, const std::vector<FileMatch>& files, const Plan& a, const Plan& b,
              PlanDiff& diff)
      : m_levels(levels), m_files(files), m_a(a), m_b(b), m_diff(diff) {}
  void markChanged();
  std::optional<Taken> taken(const Group& group, bool ofA) const;
  bool inseparable() const;
  Status planAgain(const PriceModel* prices, const StopToken& stop);
  Status tryGroups(const PriceModel* prices, const StopToken& stop);
  Result<std::vector<Trial>> trialsOf(const Group& group, const PriceModel* prices, const StopToken& stop) const;
  bool changesAny(const std::vector<Trial>& trials) const;
  Result<std::vector<LevelFacts>> planned(const PlanOptions& options, bool ofA, const PriceModel* prices,
                                          const StopToken& stop) const;
  std::vector<LevelFacts> factsOfLevels(const Plan& plan, bool ofA) const;
  bool factsDiffer(const std::vector<LevelFacts>& some, const std::vector<LevelFacts>& others) const;
  void findNamed();
  void nameDirectives(std::size_t place, const Cover& plan, bool ofA);
  int directiveDifference(const Plan& plan, const Cause& by, bool ofA) const;
  void find(std::size_t place, Aspect aspect, std::uint32_t index, Found& found) const;
  void keepNamed(std::size_t place, std::span<const std::uint32_t> things, Found& found) const;
  Causes texts(const Found& found, std::size_t place, std::span<const std::uint32_t> things) const;

  const std::vector<PlanLevel>& m_levels;
  const std::vector<FileMatch>& m_files;
  const Plan& m_a;
  const Plan& m_b;
  PlanDiff& m_diff;
  std::size_t m_options = 0;  ///< the number of differences of options, which come first
  bool m_asOne = false;       ///< whether only all differences together can be the cause
  int m_network = -1;         ///< the difference between the networks, or between their inputs; -1 if there is none
  std::vector<LevelFacts> m_ofA, m_ofB;  ///< the facts of the two plans
  /// the facts of plans that were made again with the same options; empty if they would be equal
  std::vector<LevelFacts> m_againA, m_againB;
  std::vector<LevelFacts> m_allInA;  ///< the facts of a plan of A's network with all of B's options
  std::vector<Trial> m_trials;
  std::vector<Group> m_groups;               ///< groups of several differences that were not tried one by one
  std::vector<std::vector<char>> m_changed;  ///< by level and NodeId of A: whether the files differ
  /// by level and node: the directives that its decisions name
  std::vector<std::unordered_map<std::uint32_t, Found>> m_named;
};

}  // namespace fusescope
