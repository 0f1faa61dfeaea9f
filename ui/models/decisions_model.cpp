#include "ui/models/decisions_model.h"

#include <algorithm>

#include "ir/graph.h"
#include "planning/fused_node_facts.h"
#include "planning/types/pin_answers.h"
#include "ui/document/made_words.h"
#include "ui/document/option_words.h"
#include "ui/document/qt_text.h"

namespace fusescope {

namespace {

bool refusedPin(const Decision& decision) {
  return !decision.allowed && answersDirective(decision);
}

// An index of a cover's decisions is also an index of the decisions of the plan that was requested: the cover is that
// plan, or it begins with its decisions.

std::optional<PinAnswer> pinAnswerAt(const Cover& cover, std::uint32_t index) {
  const DirectiveAnswer* answer = answerAt(requestedPlan(cover), index);
  return answer == nullptr ? std::nullopt : std::optional(pinAnswerOf(answer->outcome));
}

bool wanted(const Cover& cover, std::uint32_t index, bool isNew, DecisionFilter filter) {
  const Decision& decision = cover.decisions[index];
  switch (filter) {
    case DecisionFilter::Answers:
      return answersDirective(decision) || isOfAllPins(requestedPlan(cover), index) ||
             (!decision.allowed && decision.kind != DecisionKind::Fuse);
    case DecisionFilter::New:
      return isNew;
    case DecisionFilter::Verdicts:
      return decision.kind == DecisionKind::Validate;
    case DecisionFilter::Fusions:
      return decision.kind == DecisionKind::Fuse;
    case DecisionFilter::All:
      return true;
  }
  return false;
}

/// Refused directives come first, then prices of pins, then other decisions about directives, then refusals, and then
/// the rest.
int urgency(const Cover& cover, std::uint32_t index) {
  const Decision& decision = cover.decisions[index];
  if (refusedPin(decision)) return 0;
  const auto answer = pinAnswerAt(cover, index);
  if (isOfAllPins(requestedPlan(cover), index) || (answer && *answer != PinAnswer::Granted)) return 1;
  if (answersDirective(decision)) return 2;
  return decision.allowed ? 4 : 3;
}

/// Returns whether the decision allows something, or, for a pin, the answer.
QString markText(const Cover& cover, std::uint32_t index) {
  const QString plain = cover.decisions[index].allowed ? QStringLiteral("✓ yes") : QStringLiteral("✗ no");
  if (isOfAllPins(requestedPlan(cover), index)) return QStringLiteral("Σ all");
  const auto answer = pinAnswerAt(cover, index);
  if (!answer) return plain;
  switch (*answer) {
    case PinAnswer::Free:
      return QStringLiteral("✓ free");
    case PinAnswer::Price:
      return QStringLiteral("✓ price");
    case PinAnswer::Nothing:
      return QStringLiteral("– nothing");
    case PinAnswer::Granted:
    case PinAnswer::Refused:
      return plain;
  }
  return plain;
}

/// Returns whether the answer is neither good nor bad: a pin that has a price, or for which there was nothing to pin.
bool isMiddling(const Cover& cover, std::uint32_t index) {
  const auto answer = pinAnswerAt(cover, index);
  return answer == PinAnswer::Price || answer == PinAnswer::Nothing;
}

/// Returns what the compiler that made the cover did with the type which the answer at `index` is about. Returns null
/// if the answer is not about a type, or if the cover is our own plan.
const ReadBackPin* madeOfPin(const Cover& cover, std::uint32_t index) {
  const ReadBackPlan* made = asReadBack(cover);
  if (made == nullptr || made->pins.empty() || answerAt(*made->requested, index) == nullptr) return nullptr;
  const std::vector<Subject>& subjects = cover.decisions[index].subjects;
  const auto node = subjects.empty() ? std::nullopt : subjects.front().nodeIn(cover.graph());
  const auto pin = node ? std::ranges::find(made->pins, *node, &ReadBackPin::node) : made->pins.end();
  return pin == made->pins.end() ? nullptr : &*pin;
}

/// Returns a text such as "onnxruntime 1.20: ignored, it calculates in f32".
QString madeOfPinText(const ReadBackPlan& made, const ReadBackPin& pin) {
  const QString has = pin.granted ? QStringLiteral(", it calculates in %1").arg(typeWord(*pin.granted)) : QString();
  QString why = pin.why.empty() ? QString() : QStringLiteral(": %1").arg(qs(pin.why));
  if (why.endsWith('.')) why.chop(1);
  return QStringLiteral("%1: %2%3%4.").arg(compilerTitle(made.compiler), pinResultText(pin.result), has, why);
}

/// Returns the text of a decision. For an answer to a pin, it is followed by what the compiler did with the pin.
/// Decisions of the compiler come after those of the plan.
QString sentenceOf(const Cover& cover, std::uint32_t index) {
  const Plan& asked = requestedPlan(cover);
  const QString ours =
      withoutOptions(qs(index < asked.decisions.size() ? answerText(asked, index) : message(cover.decisions[index])));
  const ReadBackPin* pin = madeOfPin(cover, index);
  return pin == nullptr ? ours : QStringLiteral("%1 — %2").arg(ours, madeOfPinText(*asReadBack(cover), *pin));
}

/// Returns whether an answer that a body gave to a directive is also listed among the plan's own answers.
bool isLifted(const Cover& cover, const Decision& decision) {
  return std::ranges::any_of(cover.options.directives, [&](const Directive& directive) {
    return !directive.pattern.empty() && causeOf(directive) == decision.by;
  });
}

QString subjectText(const Decision& decision, const BodyPath& path) {
  if (decision.subjects.empty())
    return decision.kind == DecisionKind::Precision ? QStringLiteral("(all pins)") : QStringLiteral("(the model)");
  const QString first = qs(path.of(decision.subjects.front().text()));
  if (decision.subjects.size() == 1) return first;
  return QStringLiteral("%1 and %2 more").arg(first).arg(decision.subjects.size() - 1);
}

}  // namespace

bool answersDirective(const Decision& decision) {
  return decision.by.isDirective();
}

void DecisionsModel::setSnapshot(std::shared_ptr<const PlanSnapshot> snapshot) {
  beginResetModel();
  m_snapshot = std::move(snapshot);
  arrange();
  endResetModel();
}

void DecisionsModel::setFilter(DecisionFilter filter) {
  beginResetModel();
  m_filter = filter;
  arrange();
  endResetModel();
}

void DecisionsModel::setSubject(const std::string& name) {
  beginResetModel();
  m_subject = name;
  arrange();
  endResetModel();
}

int DecisionsModel::countOf(const PlanSnapshot& snapshot, DecisionFilter filter) {
  if (filter == DecisionFilter::New) return static_cast<int>(snapshot.newDecisions().size());
  std::ptrdiff_t count = 0;
  for (const PlanSnapshot::Level& level : snapshot.levels()) {
    const Cover& cover = *level.snapshot->cover;
    for (std::uint32_t i = 0; i < cover.decisions.size(); ++i)
      if (wanted(cover, i, false, filter) && (!level.holder.valid() || !isLifted(*snapshot.cover, cover.decisions[i])))
        ++count;
  }
  return static_cast<int>(count);
}

/// Returns the handle of a fused node if this cover or body contains it. Things in a body are named by their path.
QString DecisionsModel::handleOf(const Subject& subject, const BodyPath& path) const {
  const std::string handle =
      subject.kind == SubjectKind::FusedNode && !subject.identity.empty() ? fusescope::handleOf(subject.identity) : "";
  if (handle.empty() || (path.isNetwork() && !m_snapshot->fusedWith(handle))) return qs(path.of(subject.text()));
  return qs(path.exactly(handle));
}

bool DecisionsModel::isAbout(const Decision& decision, const BodyPath& path) const {
  return m_subject.empty() || std::ranges::any_of(decision.subjects, [&](const Subject& subject) {
           return path.of(subject.text()) == m_subject;
         });
}

void DecisionsModel::arrange() {
  m_rows.clear();
  m_levels = m_snapshot ? m_snapshot->levels() : std::vector<PlanSnapshot::Level>();
  if (!m_snapshot) return;
  m_new.assign(m_snapshot->cover->decisions.size(), false);
  for (const std::uint32_t index : m_snapshot->newDecisions()) m_new[index] = true;
  for (std::uint32_t level = 0; level < m_levels.size(); ++level) {
    const Cover& cover = coverAt(level);
    const auto& all = cover.decisions;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (!wanted(cover, i, level == 0 && m_new[i], m_filter)) continue;
      if (level > 0 && isLifted(*m_snapshot->cover, all[i])) continue;
      if (isAbout(all[i], m_levels[level].path)) m_rows.push_back({level, i});
    }
  }
  std::ranges::stable_sort(m_rows, {}, [&](const Row& row) { return urgency(coverAt(row.level), row.decision); });
}

int DecisionsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int DecisionsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QVariant DecisionsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const Decision& decision = decisionAt(index.row());
  const Row& place = m_rows[static_cast<std::size_t>(index.row())];
  const Cover& cover = coverAt(place.level);
  switch (role) {
    case Qt::DisplayRole:
      switch (index.column()) {
        case kMark:
          return markText(cover, place.decision);
        case kSubject:
          return subjectText(decision, pathAt(index.row()));
        case kWhat:
          return sentenceOf(cover, place.decision);
        case kCode:
          return qs(decision.code);
        default:
          return {};
      }
    case Qt::ToolTipRole:
      return tipText(index.column() == kCode ? qs(decision.code) + " · " + qs(decision.by.text())
                                             : inWindowWords(decision));
    case kNameRole:
      return decision.subjects.empty() ? QString() : handleOf(decision.subjects.front(), pathAt(index.row()));
    case kToneRole: {
      if (index.column() == kCode) return static_cast<int>(Tone::Dim);
      if (index.column() != kMark) return static_cast<int>(Tone::Plain);
      const ReadBackPin* pin = madeOfPin(cover, place.decision);
      const bool isIgnored = pin != nullptr && (pin->result == PinResult::Ignored || pin->result == PinResult::Moved);
      if (isIgnored || isMiddling(cover, place.decision)) return static_cast<int>(Tone::Warning);
      if (decision.allowed) return static_cast<int>(Tone::Good);
      return static_cast<int>(refusedPin(decision) ? Tone::Bad : Tone::Warning);
    }
    case kNewRole:
      return place.level == 0 && m_new[place.decision];
    default:
      return {};
  }
}

QVariant DecisionsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  static const char* const kHeaders[] = {"Answer", "About", "Why", "Code"};
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= kColumns) return {};
  return QString::fromLatin1(kHeaders[section]);
}

}  // namespace fusescope
