// The work that the RunController gives to the worker, step by step.
#include <QDir>
#include <QFile>
#include <algorithm>

#include "base/json_fields.h"
#include "session/runs/run_comparison.h"
#include "session/runs/value_of_both.h"
#include "session/runs/verdict.h"
#include "ui/document/qt_text.h"
#include "ui/document/run_controller.h"
#include "ui/document/session_folder.h"
#include "ui/jobs/worker_client.h"

namespace fusescope {

namespace {

/// The worker's answer to a build.
struct Built {
  RunBuild build;
  SharedOptional<Json> made;  ///< what another compiler made of the plan; none for our own compiler
};

SharedOptional<Json> madeIn(const Json& reply) {
  return reply.is_object() && reply.contains("made") && reply["made"].is_object() ? SharedOptional<Json>(reply["made"])
                                                                                  : SharedOptional<Json>();
}

/// The worker's answer to a measurement of a run's time.
struct Timed {
  SharedOptional<RunTime> time;
  std::vector<Decision> said;  ///< about the engine, such as that it came from the store
};

Result<std::vector<Decision>> decisionsIn(const Json& reply) {
  std::vector<Decision> decisions;
  JsonFields fields(reply);
  fields.parseList("decisions", decisions, decisionFromJson);
  return fields.result(std::move(decisions));
}

/// The worker's answer to a measurement of layers' errors.
struct Measured {
  SharedOptional<RunErrors> errors;
  SharedOptional<Json> made;  ///< as for a build: what another compiler made, which the errors are about
  QString first;              ///< the tensor that is wrong first, and why; empty if none is
};

QString firstWrongIn(const Json& reply) {
  const Json first = reply.value("first_wrong", Json());
  if (!first.is_object()) return {};
  return QStringLiteral("first wrong: %1 : %2").arg(qs(first.value("tensor", "")), qs(first.value("why", "")));
}

/// Describes errors of layers none of which is wrong. Nothing can be said about a tensor without expected finite
/// numbers.
QString noneIsWrong(const RunErrors& errors) {
  const auto measured = [](const TensorErrors& tensor) { return tensor.errors.carried.has_value(); };
  const auto lost = [](const TensorErrors& tensor) {
    return tensor.errors.carried && !tensor.errors.carried->isMeaningful();
  };
  const auto undetermined = std::ranges::count_if(errors.tensors, lost);
  if (undetermined == 0) return QStringLiteral("no layer is wrong");
  if (undetermined == std::ranges::count_if(errors.tensors, measured))
    return QStringLiteral("whether a layer is wrong cannot be determined: no finite number is expected of any");
  return QStringLiteral("no layer that can be judged is wrong; for %1 it cannot be determined")
      .arg(plural(undetermined, QStringLiteral("tensor")));
}

}  // namespace

template <class Decode, class Done>
void RunController::send(const QString& what, const std::string& id, const WorkerRequest& request, Decode decode,
                         Done done) {
  const int session = m_session;
  m_run = id;
  sent(what, m_worker.sendDecoded(
                 request, this, std::move(decode),
                 [this, id, session, done = std::move(done)](auto& answer) {
                   m_request = 0;
                   // In this case, the answer belongs to runs that were closed, whose ids are used again.
                   if (session != m_session) return next();
                   if (answer.ok()) {
                     done(std::move(answer).value());
                   } else {
                     failed(id, answer.error());
                   }
                   next();
                 },
                 [this, id, session](const QString& phase, const QString& detail) {
                   if (session == m_session) heard(id, phase, detail);
                 }));
}

const Run* RunController::refittable() const {
  const auto canBe = [this](const Run& run) {
    return run.kind == RunKind::Plan && run.build && run.options.compiler == kOwnCompiler &&
           run.extents == m_document.inputs() && engineIsKept(run);
  };
  const auto& runs = m_runs.all();
  const auto found = std::find_if(runs.rbegin(), runs.rend(), canBe);
  return found == runs.rend() ? nullptr : &*found;
}

void RunController::refit(const std::string& former) {
  const Run* run = m_runs.find(former);
  m_notice =
      run == nullptr || !engineIsKept(*run) || !(run->extents == m_document.inputs())
          ? QStringLiteral("The engine that was to be refitted does not exist any more, or is for other extents.")
          : buildRefusal();
  if (!m_notice.isEmpty()) return emit activityChanged();
  const std::string engine = run->enginePath, backend = run->backend;
  const std::string id = addRun(PlanOptions(run->options));
  m_runs.change(id, [&](Run& added) { added.backend = backend; });
  queueBuild(id, engine);
  queueTime(id);
  next();
}

void RunController::queueBuild(const std::string& id, const std::string& refitted) {
  m_steps.emplace_back([this, id, refitted] {
    const Run* run = m_runs.find(id);
    if (run == nullptr) return;
    if (const Status model = checkModel(*run); !model.ok()) return failed(id, model.error());
    WorkerRequest request;
    request.source = source(*run);
    if (refitted.empty())
      request.settings = BuildSettings{.output = run->enginePath};
    else
      request.settings =
          RefitSettings{.engineFile = refitted, .weights = request.source.path, .output = run->enginePath};
    request.threads = run->threads;
    const auto decode = [](const Json& reply) -> Result<Built> {
      return Built{.build = TRY(runBuildFromJson(reply)), .made = madeIn(reply)};
    };
    const auto take = [this, id](Built built) {
      log(id,
          QStringLiteral("built: %1 regions, %2 of them distinct").arg(built.build.regions).arg(built.build.distinct));
      m_runs.change(id, [&](Run& changed) {
        if (!changed.build) changed.build = std::move(built.build);  // a run that is built again keeps its results
        if (!changed.made) changed.made = std::move(built.made);
        if (changed.working()) changed.state = RunState::Timing;
      });
    };
    const QString what = refitted.empty() ? QStringLiteral("building %1") : QStringLiteral("refitting %1");
    send(what.arg(Runs::title(*run)), id, request, decode, take);
  });
}

void RunController::queueTime(const std::string& id) {
  m_steps.emplace_back([this, id] {
    const Run* run = m_runs.find(id);
    if (run == nullptr) return;
    for (const Ability ability : {Ability::Run, Ability::Time}) {
      const QString why = whyNot(run->options, ability);
      if (why.isEmpty()) continue;
      log(id, QStringLiteral("not timed: %1").arg(why));
      return m_runs.change(id, [](Run& changed) { changed.state = RunState::Ready; });
    }
    WorkerRequest request;
    request.settings = TimeSettings{.seconds = m_runs.settings().seconds, .warmup = kWarmupSeconds, .perLayer = true};
    request.source = timedSource(*run);
    request.inputs = m_runs.settings().inputs;
    request.threads = run->threads;
    const auto decode = [inputs = request.inputs](const Json& reply) -> Result<Timed> {
      Timed timed{.time = TRY(runTimeFromJson(reply)), .said = TRY(decisionsIn(reply))};
      timed.time->inputs = inputs;
      return timed;
    };
    const auto take = [this, id](const Timed& timed) {
      for (const Decision& decision : timed.said) log(id, qs(message(decision)));
      const RunTime& time = *timed.time;
      log(id, QStringLiteral("timed: %1").arg(time.medianMs ? msText(time.medianMs) : qs(time.unavailableReason)));
      m_runs.change(id, [&](Run& changed) {
        changed.time = timed.time;
        changed.state = RunState::Ready;
      });
    };
    send(QStringLiteral("timing %1").arg(Runs::title(*run)), id, request, decode, take);
  });
}

void RunController::queueEvaluation(const std::string& id) {
  m_steps.emplace_back([this, id] {
    const Run* run = m_runs.find(id);
    if (run == nullptr) return;
    if (const Status model = checkModel(*run); !model.ok()) return failed(id, model.error());
    const RunState before = run->state;
    WorkerRequest request;
    request.settings = EvaluateSettings();
    request.source = source(*run);
    request.inputs = m_runs.settings().inputs;
    request.tolerance = m_runs.settings().tolerance;
    m_runs.change(id, [](Run& changed) { changed.state = RunState::Evaluating; });
    const auto decode = [settings = m_runs.settings()](const Json& reply) -> Result<SharedOptional<Evaluation>> {
      Evaluation evaluation = TRY(evaluationFromJson(reply));
      evaluation.when = timestamp();
      evaluation.inputs = settings.inputs;
      evaluation.tolerance = settings.tolerance;
      return SharedOptional<Evaluation>(std::move(evaluation));
    };
    const auto take = [this, id, before](const SharedOptional<Evaluation>& evaluated) {
      m_runs.change(id, [&](Run& changed) {
        changed.evaluations.push_back(evaluated);
        changed.state = before;
      });
      log(id, qs(inWords(m_runs.verdict(*m_runs.find(id)))));
    };
    send(QStringLiteral("evaluating %1").arg(Runs::title(*run)), id, request, decode, take);
  });
}

void RunController::queueSpecialise(const std::string& id) {
  m_steps.emplace_back([this, id] {
    const Run* run = m_runs.find(id);
    if (run == nullptr) return;
    const bool isKept = engineIsKept(*run);
    if (!isKept)
      if (const Status model = checkModel(*run); !model.ok()) return failed(id, model.error());
    const RunState before = run->state;
    WorkerRequest request;
    request.settings = TimeSettings{.seconds = m_runs.settings().seconds, .warmup = kWarmupSeconds, .specialise = true};
    request.source = isKept ? engineSource(*run) : source(*run);
    request.inputs = m_runs.settings().inputs;
    request.threads = run->threads;
    m_runs.change(id, [](Run& changed) { changed.state = RunState::Timing; });
    const auto decode = [inputs = request.inputs](const Json& reply) -> Result<SharedOptional<RunServing>> {
      RunServing serving = TRY(runServingFromJson(reply));
      serving.when = timestamp();
      serving.inputs = inputs;
      return SharedOptional<RunServing>(std::move(serving));
    };
    const auto take = [this, id, before](const SharedOptional<RunServing>& serving) {
      for (const Decision& decision : serving->decisions) log(id, qs(message(decision)));
      m_runs.change(id, [&](Run& changed) {
        changed.serving = serving;
        changed.state = before;
      });
    };
    send(QStringLiteral("specialising %1").arg(Runs::title(*run)), id, request, decode, take);
  });
}

void RunController::queueErrors(const std::string& id) {
  m_steps.emplace_back([this, id] {
    const Run* run = m_runs.find(id);
    if (run == nullptr) return;
    if (const Status model = checkModel(*run); !model.ok()) return failed(id, model.error());
    const RunState before = run->build ? run->state : RunState::Ready;
    WorkerRequest request;
    request.settings = ErrorsSettings{.against = m_runs.settings().errorsAgainst};
    request.source = source(*run);
    request.inputs = m_runs.settings().inputs;
    request.tolerance = m_runs.settings().tolerance;
    request.threads = m_runs.settings().threads;
    m_runs.change(id, [](Run& changed) { changed.state = RunState::Evaluating; });
    const auto decode = [inputs = request.inputs](const Json& reply) -> Result<Measured> {
      RunErrors errors = TRY(runErrorsFromJson(reply));
      errors.when = timestamp();
      errors.inputs = inputs;
      return Measured{SharedOptional<RunErrors>(std::move(errors)), madeIn(reply), firstWrongIn(reply)};
    };
    const auto take = [this, id, before](const Measured& measured) {
      m_runs.change(id, [&](Run& changed) {
        changed.state = before;
        if (!changed.made) changed.made = measured.made;
      });
      m_runs.addErrors(id, measured.errors);
      log(id, measured.first.isEmpty() ? noneIsWrong(*measured.errors) : measured.first);
      if (!measured.errors->inside.empty()) log(id, qs(measured.errors->inside));
    };
    send(QStringLiteral("evaluating errors of each layer of %1").arg(Runs::title(*run)), id, request, decode, take);
  });
}

void RunController::queueValue(const std::string& value, std::int64_t sample) {
  m_steps.emplace_back([this, value, sample] {
    WorkerRequest request;
    request.source.path = m_document.modelFile().path;
    if (m_document.kind() != ArtifactKind::Engine) {
      request.source.inputs = m_document.inputs();
      request.source.options = m_document.options();
      request.source.backend = m_runs.settings().backend;
    }
    request.inputs = m_runs.settings().inputs;
    request.threads = m_runs.settings().threads;
    QDir().mkpath(m_engineFolder);
    request.settings =
        TensorSettings{.name = value, .sample = sample, .npz = QDir(m_engineFolder).filePath(kValueFile).toStdString()};
    using Fetched = std::shared_ptr<const ValueOfBoth>;
    const auto decode = [](const Json& reply) -> Result<Fetched> {
      auto both = readValueOfBoth(reply);
      QFile::remove(qs(reply.value("file", "")));
      return Fetched(std::make_shared<ValueOfBoth>(TRY(std::move(both))));
    };
    const auto take = [this](const Fetched& fetched) { emit valueFetched(fetched); };
    send(QStringLiteral("running the network for %1").arg(qs(value)), {}, request, decode, take);
  });
}

std::string RunController::addComparison(const std::string& a, const std::string& b) {
  Run run = newRun();
  run.kind = RunKind::Comparison;
  run.state = RunState::Comparing;
  run.name = "run " + b + " against run " + a;
  run.comparison = RunComparison{.a = a, .b = b, .inputs = m_runs.settings().inputs};
  return m_runs.add(std::move(run));
}

void RunController::queueCompare(const std::string& a, const std::string& b) {
  m_steps.emplace_back([this, a, b] {
    const Run *runA = m_runs.find(a), *runB = m_runs.find(b);
    if (runA == nullptr || runB == nullptr) return;
    WorkerRequest request;
    request.settings = CompareSettings{.seconds = m_runs.settings().seconds};
    request.source = engineSource(*runA);
    request.other = engineSource(*runB);
    request.inputs = m_runs.settings().inputs;
    request.threads = m_runs.settings().threads;
    const QString what = QStringLiteral("comparing %1 with %2").arg(Runs::title(*runA), Runs::title(*runB));
    const auto decode = [a, b, inputs = request.inputs](const Json& reply) -> Result<SharedOptional<RunComparison>> {
      RunComparison compared = TRY(runComparisonFromJson(reply));
      compared.a = a;
      compared.b = b;
      compared.inputs = inputs;
      return SharedOptional<RunComparison>(std::move(compared));
    };
    const std::string id = addComparison(a, b);
    const auto take = [this, id](const SharedOptional<RunComparison>& compared) {
      m_runs.change(id, [&](Run& changed) {
        changed.comparison = compared;
        changed.state = RunState::Ready;
      });
    };
    send(what, id, request, decode, take);
  });
}

}  // namespace fusescope
