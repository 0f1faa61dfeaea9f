#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "ui/document/plan_snapshot.h"
#include "ui/models/roles.h"

namespace fusescope {

/// Which decisions of a cover are listed.
enum class DecisionFilter {
  Answers,   ///< answers to the user: pins and other directives, truncation, and all refusals except for fusions
  New,       ///< those that the last edit added
  Verdicts,  ///< answers of validators, node by node
  Fusions,   ///< what was merged, and what was not, and why
  All,
};

/// A table of the decisions of a cover and of the plans of its bodies. Refusals and answers to directives are first;
/// names in bodies are HOLDER/NAME. Sentences are made when they are displayed, because a cover may have tens of
/// thousands.
class DecisionsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kMark, kSubject, kWhat, kCode, kColumns };

  using QAbstractTableModel::QAbstractTableModel;
  void setSnapshot(std::shared_ptr<const PlanSnapshot> snapshot);
  void setFilter(DecisionFilter filter);
  DecisionFilter filter() const { return m_filter; }
  /// Shows only decisions about this name; empty: all.
  void setSubject(const std::string& name);
  const Decision& decisionAt(int row) const {
    const Row& place = m_rows[static_cast<std::size_t>(row)];
    return coverAt(place.level).decisions[place.decision];
  }
  static int countOf(const PlanSnapshot& snapshot, DecisionFilter filter);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    std::uint32_t level = 0, decision = 0;
  };
  const Cover& coverAt(std::uint32_t level) const { return *m_levels[level].snapshot->cover; }
  const BodyPath& pathAt(int row) const { return m_levels[m_rows[static_cast<std::size_t>(row)].level].path; }
  QString handleOf(const Subject& subject, const BodyPath& path) const;
  bool isAbout(const Decision& decision, const BodyPath& path) const;
  void arrange();
  std::shared_ptr<const PlanSnapshot> m_snapshot;
  std::vector<PlanSnapshot::Level> m_levels;
  std::vector<Row> m_rows;
  std::vector<bool> m_new;  ///< by decision of the network's cover
  DecisionFilter m_filter = DecisionFilter::Answers;
  std::string m_subject;
};

/// Returns whether a directive caused it ("pin:3").
bool answersDirective(const Decision& decision);

}  // namespace fusescope
