#include "session/operations/probe_operation.h"

#include "session/operations/operation.h"

namespace fusescope {

std::vector<Option> ProbePackSettings::options() {
  return {
      {.name = "MODEL", .value = &model, .argument = "MODEL", .help = "A model.", .isRequired = true, .isPath = true},
      {.name = "output",
       .value = &job,
       .argument = "JOB.pyz",
       .help = "The job file to write.",
       .letter = 'o',
       .isRequired = true},
      {.name = "do",
       .value = &questions,
       .argument = "plan[,run][,time][,profile]",
       .help = "What is asked beside what the compiler makes: run, time, profile."},
      {.name = "seconds",
       .value = &seconds,
       .argument = "S",
       .help = "Measure for this many seconds.",
       .range = kAboveZero},
      {.name = "warmup",
       .value = &warmup,
       .argument = "S",
       .help = "Run for this many seconds before the measurement.",
       .range = kZeroOrMore},
      {.name = "threads",
       .value = &threads,
       .argument = "N",
       .help = "The number of threads. Without this option it is the number of processors of the machine there.",
       .range = kAboveZero}};
}

std::vector<Option> ProbeOpenSettings::options() {
  return {{.name = "RESULT",
           .value = &result,
           .argument = "RESULT.zip",
           .help = "The file that the job wrote.",
           .isRequired = true,
           .isPath = true},
          {.name = "MODEL",
           .value = &model,
           .argument = "MODEL",
           .help = "The model, if it is not where it was when the job was packed.",
           .isPath = true}};
}

const Operation& probeOperation() {
  static const Operation operation{
      .name = "probe",
      .summary = "Ask compilers on machines that cannot be reached, by job files and their results",
      .parts = {{.name = "probe pack",
                 .summary = "Write a job file for a machine that cannot be reached: python3 JOB.pyz runs it there",
                 .groups = {OptionGroup::Inputs, OptionGroup::Json, OptionGroup::Plan},
                 .usualOptions = copyOfUsualOptions<ProbePackSettings>,
                 .prints = "fusescope.packed_job",
                 .writes = "--output: the job"},
                {.name = "probe open",
                 .summary = "Show the result of a job: what the compiler made there, and what it measured",
                 .groups = {OptionGroup::Inputs, OptionGroup::Json},
                 .usualOptions = copyOfUsualOptions<ProbeOpenSettings>,
                 .prints = "fusescope.opened_job",
                 .doesNotHold = "a question of the job has no answer"}}};
  return operation;
}

}  // namespace fusescope
