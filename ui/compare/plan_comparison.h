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

/// Two plans and what differs between them. Const once made.
struct ComparedPair {
  std::shared_ptr<const PlanSide> a, b;
  UnionCover both;
  std::shared_ptr<const CoverParts> parts;  ///< of the union; for who holds LaidOutLevels::mutex
  QSizeF room;                              ///< of each view, by which it was chosen what is open
  PlanDiff diff;
  std::vector<DifferenceGroup> groups;
  std::unordered_map<std::string, std::uint32_t> byHandle;  ///< fused nodes of the union of the networks
  std::shared_ptr<const PairOfFile> file;  ///< one side is the network as it lies in the file; null: neither
  bool causesFound = false;                ///< else they are being looked for
};

/// Layouts of levels that were made before, for one thread at a time: pictures are made by who holds the mutex.
struct LaidOutLevels {
  std::mutex mutex;
  LevelCache cache;
};

/// Compares the two plans that are chosen, and makes the pictures of both. Follows the plan on screen, the runs and the
/// file while it is active; else it does no work. Lives in the GUI thread; plans, comparisons and layouts are made
/// elsewhere: first what differs, then, which may take longer, what caused it.
class PlanComparison : public QObject {
  Q_OBJECT

 public:
  PlanComparison(PlanDocument& document, Runs& runs, FileDiff& file, JobRunner& jobs, QObject* parent = nullptr);

  /// Active: it compares and follows.
  void setActive(bool active);
  /// The size that each view has, for pictures of pairs that are compared from here on.
  void setRoom(const QSizeF& room) { m_room = room; }
  /// By the user. Ids as sideChoices() has them.
  void choose(const QString& a, const QString& b);
  void swap() { choose(QString(m_b), QString(m_a)); }
  /// What is compared until somebody chooses: the two runs that are shown, where the second is of the plan on screen;
  /// else the plan before the last edit, the file, or float32, and the plan on screen.
  void chooseUsual();
  const QString& a() const { return m_a; }
  const QString& b() const { return m_b; }
  std::vector<SideChoice> choices() const { return sideChoices(m_document, m_runs, m_file); }

  bool busy() const { return m_busy; }
  /// Why there is no comparison; empty: there is one, or it is being made.
  const QString& problem() const { return m_problem; }
  /// Null: there is none, or not yet.
  std::shared_ptr<const ComparedPair> pair() const { return m_pair; }
  std::shared_ptr<const ComparedScenes> scenes() const { return m_scenes; }
  /// Makes the pictures anew with this open.
  void setOpen(const OpenState& open);

 signals:
  void choicesChanged();
  void changed();        ///< another pair, none, or what was found of it
  void scenesChanged();  ///< the pictures

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
  bool m_isChosen = false;  ///< by the user
  std::shared_ptr<const ComparedPair> m_pair;
  std::shared_ptr<const ComparedScenes> m_scenes;
  const std::shared_ptr<const CanvasFonts> m_fonts;
  const std::shared_ptr<LaidOutLevels> m_levels;
};

}  // namespace fusescope
