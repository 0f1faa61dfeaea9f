#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QString>
#include <QTemporaryDir>
#include <array>
#include <functional>
#include <map>
#include <optional>

#include "base/json.h"
#include "session/worker_protocol.h"
#include "ui/document/plan_document.h"

namespace fusescope {

class WorkerClient;

/// One of the two engines that are compared.
struct EngineSlot {
  enum class State { Empty, Building, Timing, Ready, Failed, Cancelled };
  struct Phase {
    QString name, detail;
    double ms = 0;
    std::optional<double> lastMs;  ///< the same phase in this slot's build before
  };
  State state = State::Empty;
  QString title;        ///< "baseline", "2 pins"
  PlanOptions options;  ///< what it was built from
  QString enginePath;
  Json build;       ///< as `fusescope build --json`
  Json time;        ///< as `fusescope time --json --per-layer`
  Json errors;      ///< {outputs, values}: its own types against float32; null until asked
  QString problem;  ///< for people, when failed
  std::vector<Phase> phases;
};

struct BuildSettings {
  int threads = 0;
  QString backend = QStringLiteral("native");
  double seconds = 1.0;  ///< of timing
};

/// Builds, times and compares engines in the worker process. One piece of work at a time; A and B keep what was built.
class BuildController : public QObject {
  Q_OBJECT

 public:
  static constexpr int kA = 0, kB = 1;

  BuildController(PlanDocument& document, WorkerClient& worker, QObject* parent = nullptr);

  const EngineSlot& slot(int index) const { return m_slots[static_cast<std::size_t>(index)]; }
  /// "A: baseline"; "A" while it is empty.
  QString slotTitle(int index) const;
  bool busy() const { return m_request != 0; }
  /// Why nothing can be built now; empty if it can.
  QString buildRefusal() const;
  QString compareRefusal() const;
  BuildSettings settings;

  /// Builds the document's present options (or `options`) into a slot and times the engine.
  void build(int index) { build(index, m_document.options()); }
  void build(int index, const PlanOptions& options);
  /// A: the model as it is, float32, without directives; B: the present options; then compares.
  void buildBoth();
  void compare();
  /// What the present plan's types do to the values, against float32, on the reference backend.
  void measureErrors(int index);
  void cancel();
  const Json& comparison() const { return m_comparison; }
  const QString& comparisonProblem() const { return m_comparisonProblem; }
  /// Measured milliseconds by handle of fused node in a slot, of those that the present plan has with the same types: a
  /// time of another plan's kernel is not shown as this one's. Empty if there are none.
  std::map<std::string, double> layerTimes(int index) const;
  qint64 elapsedMs() const { return m_elapsed.isValid() ? m_elapsed.elapsed() : 0; }
  /// "2 pins, precision f16", "baseline".
  static QString optionsTitle(const PlanOptions& options);

 signals:
  void slotChanged(int index);
  void activityChanged();  ///< busy() became or ceased to be
  void logged(const QString& line);
  void comparisonChanged();

 private:
  WorkSource source(const PlanOptions& options) const;
  void logPhase(const QString& phase, const QString& detail);
  void beginPhase(int index, const QString& phase, const QString& detail);
  void endPhases(int index);
  void built(int index, const Result<Json>& reply);
  void timed(int index, const Result<Json>& reply);
  void failed(int index, const Diagnostic& error);
  void finish();
  void reset();
  /// Sends and keeps the request; replies and progress of a model that was closed meanwhile are dropped.
  void send(const WorkerRequest& request, std::function<void(const Result<Json>&)> reply,
            std::function<void(const QString&, const QString&)> progress);

  PlanDocument& m_document;
  WorkerClient& m_worker;
  QTemporaryDir m_folder;
  std::array<EngineSlot, 2> m_slots;
  std::array<std::vector<EngineSlot::Phase>, 2> m_before;
  Json m_comparison;
  QString m_comparisonProblem;
  std::int64_t m_request = 0;
  int m_generation = 0;  ///< of the model
  int m_serial = 0;      ///< engine files get new names: an old engine may still be open in the worker
  bool m_thenB = false, m_thenCompare = false;
  QElapsedTimer m_elapsed, m_phaseClock;
};

}  // namespace fusescope
