#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/quantities.h"
#include "base/text.h"
#include "diff/plan_diff.h"
#include "ir/graph.h"

namespace fusescope {

namespace {

/// Collects lines that are printed at one place, and joins equal ones.
class DiffText {
 public:
  DiffText(const PlanDiff& diff, std::size_t most) : m_diff(diff), m_most(most) {}

  std::string run() {
    header();
    network();
    for (const Difference& difference : m_diff.differences) optionLines(difference);
    for (const std::string& text : predictionTexts(m_diff)) m_text += text + "\n";
    if (m_diff.same()) {
      m_text += "nothing differs\n";
      errors();
      return std::move(m_text);
    }
    if (!m_diff.causesKnown)
      m_text += fmt::format("{} are not disclosed: {}\n", anyCause() ? "causes that are not named" : "causes",
                            kCausesNotDisclosed);
    addSegments();
    addFusions();
    addFates();
    addTypes();
    addCasts();
    for (const std::string& place : m_places) {
      m_text += fmt::format("\n@@ {} @@\n", place.empty() ? "values that no node calculates" : place);
      m_text += m_sections[place];
    }
    decisions();
    times();
    errors();
    if (m_places.empty() && m_diff.decisions.empty()) m_text += "\nthe plans are the same\n";
    return std::move(m_text);
  }

 private:
  void header() {
    const auto side = [&](const char* mark, const DiffTotals& of) {
      const std::string made = of.compiler.empty() ? of.target : of.compiler + " for " + of.target;
      m_text +=
          fmt::format("{} {}: {}, {}, {} in {} and {}, {}", mark, of.label, made, of.precision,
                      counted(of.nodes, "node"), counted(of.fusedNodes, "fused node"), counted(of.segments, "segment"),
                      of.compiler.empty() ? counted(of.casts, "cast") : counted(of.casts, "conversion"));
      if (of.time) m_text += fmt::format(", {} ({})", inTime(of.time->ms), name(of.time->how));
      m_text += "\n";
    };
    side("---", m_diff.a);
    side("+++", m_diff.b);
  }

  void network() {
    if (m_diff.oneNetwork) {
      if (!m_diff.onlyA.empty() || !m_diff.onlyB.empty())
        m_text += fmt::format("one network, quantised differently: {} of {} and {} are in both plans\n", m_diff.matched,
                              m_diff.a.nodes, counted(m_diff.b.nodes, "node"));
    } else {
      m_text += fmt::format("networks: {} of {} and {} matched, {} by name, {} by structure\n", m_diff.matched,
                            m_diff.a.nodes, counted(m_diff.b.nodes, "node"), m_diff.byName, m_diff.byStructure);
    }
    const auto list = [&](char sign, const std::vector<std::string>& names) {
      for (std::size_t i = 0; i < shown(names.size()); ++i) m_text += fmt::format("{} {}\n", sign, names[i]);
      rest(m_text, sign, names.size(), "node");
    };
    list('-', m_diff.onlyA);
    list('+', m_diff.onlyB);
    for (std::size_t i = 0; i < shown(m_diff.changed.size()); ++i) {
      const ChangedNode& node = m_diff.changed[i];
      m_text += fmt::format("~ {}: {}\n", both(node.a, node.b), node.what);
    }
    rest(m_text, '~', m_diff.changed.size(), "changed node");
    for (std::size_t i = 0; i < shown(m_diff.constants.size()); ++i) constant(m_diff.constants[i]);
    rest(m_text, '~', m_diff.constants.size(), "constant");
    if (m_diff.constantsNotCompared > 0)
      m_text += fmt::format("{} could not be compared, because a file contains no data\n",
                            counted(m_diff.constantsNotCompared, "constant"));
  }

  void constant(const ConstantChange& change) {
    std::vector<std::string> readers;
    for (const CoveringNode& reader : change.readersOfA) readers.push_back(reader.place.text());
    m_text +=
        fmt::format("~ constant {}, {}: {} of {} {}{}{}\n", both(change.a, change.b), change.type, change.differing,
                    counted(change.elements, "element"), change.differing == 1 ? "differs" : "differ", sizeText(change),
                    readers.empty() ? "" : "; read by " + joined(readers));
  }

  static std::string sizeText(const ConstantChange& change) {
    if (!change.maxAbs) return {};
    if (std::isinf(*change.maxAbs)) return ", and where one is finite the other is not";
    return fmt::format(", max|Δ| {:.3g} ({:.3g} of rms)", *change.maxAbs, *change.maxOverRms);
  }

  void optionLines(const Difference& difference) {
    if (difference.kind == DifferenceKind::Network) return;
    if (!difference.a.empty()) m_text += "- " + difference.a + "\n";
    if (!difference.b.empty()) m_text += "+ " + difference.b + "\n";
  }

  std::string becauseText(const Causes& because) const {
    if (!because.empty()) return "because of " + joined(because, " and ");
    return m_diff.causesKnown ? "cause not known" : "cause not disclosed";
  }

  bool anyCause() const {
    const auto any = [](const auto& changes) {
      return std::ranges::any_of(changes, [](const auto& change) { return !change.because.empty(); });
    };
    return any(m_diff.segments) || any(m_diff.fusions) || any(m_diff.fates) || any(m_diff.types) || any(m_diff.casts) ||
           any(m_diff.decisions);
  }

  std::size_t shown(std::size_t count) const { return m_most == 0 ? count : std::min(count, m_most); }
  void rest(std::string& into, char sign, std::size_t count, std::string_view what) const {
    if (count > shown(count))
      into += fmt::format("{} … and {} more\n", sign, counted(static_cast<std::int64_t>(count - shown(count)), what));
  }

  static std::string both(const std::string& a, const std::string& b) { return a == b ? a : a + " / " + b; }

  /// Returns the lines of a place. Places are printed in the order in which they first occur.
  std::string& section(const ChangePlace& place) {
    const auto [entry, isNew] = m_sections.try_emplace(place.segment);
    if (isNew) m_places.push_back(place.segment);
    return entry->second;
  }

  void addSegments() {
    for (const SegmentChange& change : m_diff.segments) {
      std::string& lines = section(change.place);
      if (!change.runByA.empty()) {
        lines += fmt::format("~ {} → {}: {}\n", change.runByA, change.runByB, some(change.nodes));
      } else {
        lines += fmt::format("~ segment {}\n", name(change.change));
        for (const std::string& segment : change.a) lines += "-   " + segment + "\n";
        for (const std::string& segment : change.b) lines += "+   " + segment + "\n";
      }
      lines += "    " + becauseText(change.because) + "\n";
    }
  }

  void addFusions() {
    std::map<std::string, std::size_t> printed;
    for (const FusionChange& change : m_diff.fusions) {
      std::string& lines = section(change.place);
      if (++printed[change.place.segment] > shown(m_diff.fusions.size())) continue;
      lines += fmt::format("~ fusion {}, {}\n", name(change.change), becauseText(change.because));
      for (const CoveringNode& node : change.a) lines += "-   " + node.place.text() + "\n";
      for (const CoveringNode& node : change.b) lines += "+   " + node.place.text() + "\n";
      for (const std::string& fact : change.reported) lines += "    reported: " + fact + "\n";
    }
    for (const auto& [place, count] : printed) {
      const std::size_t most = shown(m_diff.fusions.size());
      if (count > most) m_sections[place] += fmt::format("~ … and {} more fusions\n", count - most);
    }
  }

  /// Changes of one kind at one place with one cause, which are printed as one line.
  struct JoinedLine {
    ChangePlace place;
    std::string start, end;  ///< the text before and after the names
    std::vector<std::string> names{};
  };
  class JoinedLines {
   public:
    void add(JoinedLine line, std::string name) {
      const auto [entry, isNew] =
          m_known.try_emplace(line.place.segment + '\n' + line.start + '\n' + line.end, m_lines.size());
      if (isNew) m_lines.push_back(std::move(line));
      m_lines[entry->second].names.push_back(std::move(name));
    }
    const std::vector<JoinedLine>& all() const { return m_lines; }

   private:
    std::vector<JoinedLine> m_lines;
    std::map<std::string, std::size_t> m_known;
  };

  void addJoined(const JoinedLines& lines) {
    for (const auto& [place, start, end, names] : lines.all())
      section(place) += names.size() == 1 ? fmt::format("~ {}: {}, {}\n", start, names.front(), end)
                                          : fmt::format("~ {} ({}), {}\n{}", start, names.size(), end, indented(names));
  }

  void addFates() {
    JoinedLines lines;
    for (const FateChange& change : m_diff.fates)
      lines.add({change.place, fmt::format("fate {} → {}", change.a, change.b), becauseText(change.because)},
                change.node);
    addJoined(lines);
  }

  void addTypes() {
    JoinedLines lines;
    for (const TypeChange& change : m_diff.types) {
      if (change.inSameKernel) continue;
      const std::string what = change.thing == TypedThing::FusedNode ? "fused node"
                               : change.thing == TypedThing::Node    ? "node"
                                                                     : "stored value";
      lines.add({change.place, fmt::format("{} {} → {}", what, change.a, change.b), becauseText(change.because)},
                both(change.name, change.nameInB));
    }
    addJoined(lines);
  }

  void addCasts() {
    std::map<std::pair<std::string, bool>, std::size_t> printed;
    for (const CastChange& change : m_diff.casts) {
      std::string& lines = section(change.place);
      if (++printed[{change.place.segment, change.added}] > shown(m_diff.casts.size())) continue;
      lines += fmt::format("{} cast of {}, {} to {}, {}\n", change.added ? '+' : '-', change.value, name(change.from),
                           name(change.to), becauseText(change.because));
    }
    for (const auto& [place, count] : printed) {
      const std::size_t most = shown(m_diff.casts.size());
      if (count > most)
        m_sections[place.first] += fmt::format("{} … and {} more casts\n", place.second ? '+' : '-', count - most);
    }
  }

  std::string indented(const std::vector<std::string>& names) const {
    std::string text;
    for (std::size_t i = 0; i < shown(names.size()); ++i) text += "    " + names[i] + "\n";
    if (names.size() > shown(names.size()))
      text += fmt::format("    … and {} more\n", names.size() - shown(names.size()));
    return text;
  }

  std::string some(const std::vector<std::string>& names) const {
    const std::vector<std::string> first(names.begin(),
                                         names.begin() + static_cast<std::ptrdiff_t>(shown(names.size())));
    return joined(first) +
           (first.size() < names.size() ? fmt::format(" and {} more", names.size() - first.size()) : "");
  }

  static std::string subjectsOf(const Decision& decision, const BodyPath& body) {
    std::vector<std::string> names;
    for (const Subject& subject : decision.subjects) names.push_back(subject.text());
    return (body.isNetwork() ? "" : body.text() + ": ") + (names.empty() ? "the plan" : joined(names));
  }

  /// Prints a single changed answer with its own message, and answers that changed in the same way for the same cause
  /// together.
  void decisions() {
    if (m_diff.decisions.empty()) return;
    std::vector<std::vector<const DecisionChange*>> groups;
    std::map<std::string, std::size_t> known;
    for (const DecisionChange& change : m_diff.decisions) {
      const auto code = [](const Decision* decision) { return decision == nullptr ? "" : decision->code; };
      const std::string key = code(change.a) + '\n' + code(change.b) + '\n' + becauseText(change.because);
      const auto [entry, isNew] = known.try_emplace(key, groups.size());
      if (isNew) groups.emplace_back();
      groups[entry->second].push_back(&change);
    }
    m_text += "\n@@ decisions @@\n";
    for (const auto& group : groups) decisionGroup(group);
  }

  void decisionGroup(const std::vector<const DecisionChange*>& group) {
    const DecisionChange& first = *group.front();
    const char sign = first.a == nullptr ? '+' : first.b == nullptr ? '-' : '~';
    const auto about = [](const DecisionChange& change) {
      return subjectsOf(change.b != nullptr ? *change.b : *change.a, change.body);
    };
    const std::string codes = first.a == nullptr               ? first.b->code
                              : first.b == nullptr             ? first.a->code
                              : first.a->code == first.b->code ? first.b->code
                                                               : first.a->code + " → " + first.b->code;
    if (group.size() > 1) {
      std::vector<std::string> names;
      for (const DecisionChange* change : group) names.push_back(about(*change));
      m_text +=
          fmt::format("{} {} ({}), {}\n{}", sign, codes, group.size(), becauseText(first.because), indented(names));
      return;
    }
    m_text += fmt::format("{} {} about {}, {}\n", sign, codes, about(first), becauseText(first.because));
    if (first.a != nullptr) m_text += "-     " + message(*first.a) + "\n";
    if (first.b != nullptr) m_text += "+     " + message(*first.b) + "\n";
  }

  static std::string kernels(const std::vector<CoveringNode>& nodes) {
    std::vector<std::string> names;
    for (const CoveringNode& node : nodes) names.push_back(node.place.text());
    return joined(names, " | ");
  }

  void times() {
    if (m_diff.times.empty()) return;
    std::vector<const TimeChange*> all;
    for (const TimeChange& change : m_diff.times) all.push_back(&change);
    std::ranges::stable_sort(all, std::ranges::greater(),
                             [](const TimeChange* change) { return std::abs(change->ofB.ms - change->ofA.ms); });
    m_text += "\n@@ times, those that differ most first @@\n";
    for (std::size_t i = 0; i < shown(all.size()); ++i) {
      const TimeChange& change = *all[i];
      m_text += fmt::format("~ {}: {} ({}) → {} ({}): {}\n", inTimeDifference(change.ofB.ms - change.ofA.ms),
                            inTime(change.ofA.ms), name(change.ofA.how), inTime(change.ofB.ms), name(change.ofB.how),
                            both(kernels(change.a), kernels(change.b)));
    }
    rest(m_text, '~', all.size(), "time");
  }

  /// Prints the errors of outputs, followed by those of fused nodes, or by those of inner values if nothing is known
  /// about fused nodes.
  void errors() {
    if (m_diff.a.errorsOn.empty()) return;
    m_text += fmt::format("\n@@ errors, max |Δ| over rms, {} @@\n",
                          m_diff.errorsAlike ? "on " + m_diff.a.errorsOn : "measured in two ways");
    if (!m_diff.errorsAlike) m_text += fmt::format("A on {}\nB on {}\n", m_diff.a.errorsOn, m_diff.b.errorsOn);
    if (m_diff.errors.empty()) m_text += "the errors that both sides know are equal\n";
    std::vector<const ErrorChange*> outputs, nodes, values;
    for (const ErrorChange& change : m_diff.errors)
      (change.isOutput ? outputs : change.ofA.empty() ? values : nodes).push_back(&change);
    errorLines("output ", "output", std::move(outputs));
    if (nodes.empty())
      errorLines("", "value", std::move(values));
    else
      errorLines("", "fused node", std::move(nodes));
  }

  /// Prints the largest differences first; local errors are compared if they are known.
  void errorLines(std::string_view before, std::string_view what, std::vector<const ErrorChange*> all) {
    const auto distance = [](double a, double b) { return a == b ? 0 : std::abs(b - a); };
    std::ranges::stable_sort(all, std::ranges::greater(), [&](const ErrorChange* change) {
      return change->localOfA ? distance(*change->localOfA, *change->localOfB) : distance(change->a, change->b);
    });
    for (std::size_t i = 0; i < shown(all.size()); ++i) {
      const ErrorChange& change = *all[i];
      m_text += fmt::format("~ {}{}: {:.4g} → {:.4g}", before, change.name, change.a, change.b);
      if (change.localOfA) m_text += fmt::format(", by itself {:.4g} → {:.4g}", *change.localOfA, *change.localOfB);
      m_text += "\n";
    }
    rest(m_text, '~', all.size(), what);
  }

  const PlanDiff& m_diff;
  std::size_t m_most;
  std::string m_text;
  std::vector<std::string> m_places;
  std::map<std::string, std::string> m_sections;
};

}  // namespace

std::string printDiff(const PlanDiff& diff, std::size_t most) {
  return DiffText(diff, most).run();
}

}  // namespace fusescope
