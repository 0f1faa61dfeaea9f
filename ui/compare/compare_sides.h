#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "diff/plan_diff.h"
#include "session/artifact.h"
#include "session/file_network.h"
#include "session/runs/run_plans.h"
#include "session/session_file.h"
#include "ui/document/plan_snapshot.h"
#include "ui/document/shown_time.h"

namespace fusescope {

class FileDiff;
class PlanDocument;
class Runs;
struct ComparedPlans;

/// Ids of the possible sides of a comparison, as sessions store them.
namespace sides {
inline const QString kScreen = QStringLiteral("screen");          ///< the displayed plan, or what was made of it
inline const QString kPrediction = QStringLiteral("prediction");  ///< our plan for another compiler
inline const QString kBefore = QStringLiteral("before");          ///< the plan before the last edit
inline const QString kFile = QStringLiteral("file");              ///< the file that the plan is compared with
inline const QString kOriginal = QStringLiteral("original");      ///< the network of the file without changes
inline const QString kBaseline = QStringLiteral("baseline");      ///< float32, without directives
QString ofRun(const std::string& id);                             ///< "run:3"
}  // namespace sides

struct SideChoice {
  QString id, title;
};

/// One side of a comparison. Const after it is made.
struct PlanSide {
  QString id, title;
  Artifact artifact;
  std::shared_ptr<const Cover> cover;  ///< Artifact::cover(), which is kept
  DiffInput input;                     ///< the input of a diff for the artifact
  ShownTimes times;                    ///< times of kernels in runs of this artifact
};

/// A pair one side of which is the network of the file: both sides are expressed in the file's nodes.
struct PairOfFile {
  FileNetwork file;
  InFileNodes in;
  bool isA = true;  ///< true: the file is A
};

/// Everything that a side is made from. It is collected on the GUI thread and used on another thread.
struct SideSource {
  QString id, title, problem;                    ///< `problem` says why there is no such side; empty: there may be one
  std::shared_ptr<const PlanSnapshot> snapshot;  ///< of the displayed plan; null: the plan must be made
  std::shared_ptr<const ComparedPlans> file;
  std::shared_ptr<const Session> session;  ///< its model, options, extents, and its runs
  std::shared_ptr<RunPlans> plans;         ///< plans of runs, which are made from `network`
  OpenNetwork network;
  std::shared_ptr<const ModuleTree> modules;  ///< the blocks of the displayed plan's model; null: there is no plan
};

/// Returns the possible sides. GUI thread only.
std::vector<SideChoice> sideChoices(const PlanDocument& document, const Runs& runs, const FileDiff& file);
SideSource sideSource(const QString& id, const PlanDocument& document, const Runs& runs, const FileDiff& file);
/// Makes a side. May run on any thread. Errors: cancelled; why the side's plan cannot be made.
Result<std::shared_ptr<const PlanSide>> makeSide(const SideSource& source, const StopToken& stop);
/// If one of the sides is sides::kOriginal, expresses both sides in the nodes of the file; returns null if neither is.
/// May run on any thread. Errors: both are, the file cannot be read again, or the other plan is not of it.
Result<std::shared_ptr<const PairOfFile>> takeToFile(std::shared_ptr<const PlanSide>& a,
                                                     std::shared_ptr<const PlanSide>& b, const StopToken& stop);

}  // namespace fusescope
