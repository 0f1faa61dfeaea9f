#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "diff/plan_diff.h"
#include "session/file_network.h"
#include "session/run_plans.h"
#include "session/session.h"
#include "session/session_file.h"
#include "ui/document/plan_snapshot.h"
#include "ui/document/shown_time.h"

namespace fusescope {

class FileDiff;
class PlanDocument;
class Runs;
struct ComparedPlans;

/// What can be a side of a comparison, by ids that sessions keep.
namespace sides {
inline const QString kScreen = QStringLiteral("screen");          ///< the plan on screen, or what was made of it
inline const QString kPrediction = QStringLiteral("prediction");  ///< our plan for another compiler
inline const QString kBefore = QStringLiteral("before");          ///< the plan before the last edit
inline const QString kFile = QStringLiteral("file");              ///< the file that the plan is compared with
inline const QString kOriginal = QStringLiteral("original");      ///< the network as it lies in its file
inline const QString kBaseline = QStringLiteral("baseline");      ///< float32, without directives
QString ofRun(const std::string& id);                             ///< "run:3"
}  // namespace sides

struct SideChoice {
  QString id, title;
};

/// One side of a comparison. Const once made.
struct PlanSide {
  QString id, title;
  Artifact artifact;
  std::shared_ptr<const Cover> cover;  ///< Artifact::cover(), which it keeps
  DiffInput input;                     ///< of the artifact
  ShownTimes times;                    ///< what kernels took in the runs that are of it
};

/// A pair of which one side is the network as it lies in its file: both sides are of the file's nodes.
struct PairOfFile {
  FileNetwork file;
  InFileNodes in;
  bool isA = true;  ///< the file is A
};

/// All that a side is made of, taken in the GUI thread, to be made in another.
struct SideSource {
  QString id, title, problem;                    ///< problem: why there is no such side; empty: there may be
  std::shared_ptr<const PlanSnapshot> snapshot;  ///< of the plan on screen; null: the plan is to be made
  std::shared_ptr<const ComparedPlans> file;
  std::shared_ptr<const Session> session;  ///< its model, options, extents, and the runs that speak of it
  std::shared_ptr<RunPlans> plans;         ///< of runs, which are made from `network`
  OpenNetwork network;
  std::shared_ptr<const ModuleTree> modules;  ///< the blocks of the plan on screen's model; null: there is no plan
};

/// What there is to choose from. GUI thread.
std::vector<SideChoice> sideChoices(const PlanDocument& document, const Runs& runs, const FileDiff& file);
SideSource sideSource(const QString& id, const PlanDocument& document, const Runs& runs, const FileDiff& file);
/// Any thread. Errors: cancelled; else why the side's plan cannot be had.
Result<std::shared_ptr<const PlanSide>> makeSide(const SideSource& source, const StopToken& stop);
/// Of two sides of which one is sides::kOriginal both in the nodes of the file; null: neither is. Any thread. Errors:
/// both are, the file cannot be read again, or the other plan is not of it.
Result<std::shared_ptr<const PairOfFile>> takeToFile(std::shared_ptr<const PlanSide>& a,
                                                     std::shared_ptr<const PlanSide>& b, const StopToken& stop);

}  // namespace fusescope
