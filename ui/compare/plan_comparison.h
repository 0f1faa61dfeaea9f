#pragma once

#include <QObject>
#include <QSizeF>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "layout/level_cache.h"
#include "ui/compare/compare_scene.h"
#include "ui/compare/compare_sides.h"

namespace fusescope {

class JobRunner;

/// Two plans and their differences. Const after it is made.
struct ComparedPair {
  std::shared_ptr<const PlanSide> a, b;
  UnionCover both;
  std::shared_ptr<const CoverParts> parts;  ///< of the union; only for the thread that has locked LaidOutLevels::mutex
  QSizeF room;                              ///< the size of each view, for which open containers were chosen
  PlanDiff diff;
  std::vector<DifferenceGroup> groups;
  std::unordered_map<std::string, std::uint32_t> byHandle;  ///< fused nodes of the union of the networks
  std::shared_ptr<const PairOfFile> file;  ///< set if one side is the network of the file; otherwise null
  bool causesFound = false;                ///< false: the causes are still being searched for
};

/// Layouts of levels that were made earlier. They are used by one thread at a time, which must lock the mutex.
struct LaidOutLevels {
  std::mutex mutex;
  LevelCache cache;
};

/// Compares the two chosen plans, and makes the pictures of both. While it is active it follows the displayed plan, the
/// runs and the file; otherwise it does nothing. It is used on the GUI thread; plans, comparisons and layouts are made
/// on other threads: first the differences, then their causes, which may take longer.
class PlanComparison : public QObject {
  Q_OBJECT

 public:
  PlanComparison(PlanDocument& document, Runs& runs, FileDiff& file, JobRunner& jobs, QObject* parent = nullptr);

  /// Active means that it compares and follows changes.
  void setActive(bool active);
  /// Sets the size of each view, for pictures of pairs that are compared from now on.
  void setRoom(const QSizeF& room) { m_room = room; }
  /// Sets the pair that the user chose. Ids are those of sideChoices().
  void choose(const QString& a, const QString& b);
  void swap() { choose(QString(m_b), QString(m_a)); }
  /// Chooses the usual pair, which is compared until the user chooses another: the two displayed runs if the second is
  /// of the displayed plan; otherwise the plan before the last edit, the file, or float32, and the displayed plan.
  void chooseUsual();
  const QString& a() const { return m_a; }
  const QString& b() const { return m_b; }
  std::vector<SideChoice> choices() const { return sideChoices(m_document, m_runs, m_file); }

  bool busy() const { return m_busy; }
  /// Returns why there is no comparison; empty if there is one, or if it is being made.
  const QString& problem() const { return m_problem; }
  /// Returns the pair; null if there is none, or not yet.
  std::shared_ptr<const ComparedPair> pair() const { return m_pair; }
  std::shared_ptr<const ComparedScenes> scenes() const { return m_scenes; }
  /// Makes the pictures again with these open containers.
  void setOpen(const OpenState& open);

 signals:
  void choicesChanged();
  void changed();        ///< another pair, no pair, or new results for the pair
  void scenesChanged();  ///< new pictures

 private:
  void set(const QString& a, const QString& b);
  void renew();
  void findCauses();

  PlanDocument& m_document;
  Runs& m_runs;
  FileDiff& m_file;
  JobRunner& m_jobs;
  QString m_a, m_b, m_problem;
  QSizeF m_room{600, 600};
  bool m_active = false, m_busy = false;
  bool m_isChosen = false;  ///< whether the user chose it
  std::shared_ptr<const ComparedPair> m_pair;
  std::shared_ptr<const ComparedScenes> m_scenes;
  const std::shared_ptr<const CanvasFonts> m_fonts;
  const std::shared_ptr<LaidOutLevels> m_levels;
};

}  // namespace fusescope
