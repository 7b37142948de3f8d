package org.apache.spark.sql.hive.thriftserver;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import javax.security.sasl.AuthenticationException;
import org.apache.hive.service.auth.PasswdAuthenticationProvider;
import org.apache.hive.service.cli.CLIService;
import org.apache.hive.service.cli.HiveSQLException;
import org.apache.hive.service.cli.SessionHandle;
import org.apache.hive.service.cli.operation.OperationManager;
import org.apache.hive.service.cli.session.HiveSession;
import org.apache.hive.service.cli.session.SessionManager;
import org.apache.hive.service.rpc.thrift.TProtocolVersion;
import org.apache.hive.service.server.HiveServer2;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.RelationTimeTravel;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.analysis.UnresolvedGenerator;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.command.SetCommand;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Function1;
import scala.Option;
import scala.Product;
import scala.Tuple2;
import scala.collection.Iterable;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractFunction2;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * Decides what clients of the Thrift server may do. thrift_rules.py says what is allowed.
 *
 * Janino, the compiler that Spark carries, compiles this file when the server starts: no lambdas, no inferred generics.
 * The package is Spark's, since Java defines a class at run time only beside another one of its package.
 */
public final class ThriftGuard implements PasswdAuthenticationProvider {

    private static volatile byte[] password;
    private static volatile Map versions = new java.util.HashMap();

    /** Until a password is set, everyone is refused. */
    public void accept(String given) {
        password = given.getBytes(StandardCharsets.UTF_8);
    }

    /** Hive makes an instance of its own for each connection, so that the password is static. */
    public void Authenticate(String user, String given) throws AuthenticationException {
        if (password == null || !MessageDigest.isEqual(password, given.getBytes(StandardCharsets.UTF_8))) {
            throw new AuthenticationException("The password is wrong. Needed: the password of this server.");
        }
    }

    /** Checks what each later session parses and analyzes. */
    public void checkPlans(
            SparkSessionExtensions extensions, Set parsed, Set analyzed, Set functions, Set schemas, Set files) {
        final Parsed before = new Parsed(parsed, functions, schemas);
        final Analyzed after = new Analyzed(analyzed, files);
        extensions.injectParser(new AbstractFunction2() {
            public Object apply(Object session, Object parser) {
                return before.around((ParserInterface) parser);
            }
        });
        extensions.injectCheckRule(new AbstractFunction1() {
            public Object apply(Object session) {
                return after;
            }
        });
    }

    /** Reads each table of these names in this version from the next statement on: all of them change at once. */
    public void see(Map given) {
        versions = given;
    }

    /** Lets later sessions read each table in the version that is to be seen. */
    public void pinVersions(SparkSessionExtensions extensions) {
        extensions.injectHintResolutionRule(new AbstractFunction1() {
            public Object apply(Object session) {
                return new Pinned((SparkSession) session);
            }
        });
    }

    /** Opens later sessions only with allowed settings. */
    public void checkSettings(HiveServer2 server, CLIService service, Set settings) {
        SessionManager ofSpark = service.getSessionManager();
        ReflectionUtils.setSuperField(service, "sessionManager", new Sessions(server, ofSpark, settings));
    }

    static RuntimeException refusal(String found) {
        return new UnsupportedOperationException(
            "The lake is only read here, and " + found + " is not allowed. Ask with SELECT, SHOW, DESCRIBE or EXPLAIN.");
    }

    /** What a statement says, looked at field by field before Spark looks up any name. */
    static final class Parsed {
        private final Set plans;
        private final Set functions;
        private final Set schemas;

        Parsed(Set plans, Set functions, Set schemas) {
            this.plans = plans;
            this.functions = functions;
            this.schemas = schemas;
        }

        Object around(final ParserInterface parser) {
            return Proxy.newProxyInstance(
                parser.getClass().getClassLoader(), new Class[] {ParserInterface.class}, new InvocationHandler() {
                    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
                        Object found;
                        try {
                            found = method.invoke(parser, arguments);
                        } catch (InvocationTargetException problem) {
                            throw problem.getCause();
                        }
                        if (found instanceof LogicalPlan) {
                            check(found);
                        }
                        return found;
                    }
                });
        }

        void check(Object part) {
            if (part instanceof LogicalPlan && !plans.contains(part.getClass().getSimpleName())) {
                throw refusal(part.getClass().getSimpleName());
            }
            if (part instanceof UnresolvedRelation && !((UnresolvedRelation) part).options().isEmpty()) {
                throw refusal("a table with options");
            }
            if (part instanceof SetCommand) {
                checkSetting(((SetCommand) part).kv());
            }
            checkNames(part);
            if (part instanceof Iterable) {
                checkAll(((Iterable) part).iterator());
            } else if (part instanceof Product) {
                checkAll(((Product) part).productIterator());
            }
        }

        private void checkAll(Iterator parts) {
            while (parts.hasNext()) {
                check(parts.next());
            }
        }

        private void checkNames(Object part) {
            if (part instanceof UnresolvedFunction) {
                checkFunction(((UnresolvedFunction) part).nameParts().mkString("."));
            } else if (part instanceof UnresolvedTableValuedFunction) {
                checkFunction(((UnresolvedTableValuedFunction) part).name().mkString("."));
            } else if (part instanceof UnresolvedGenerator) {
                checkFunction(((UnresolvedGenerator) part).name().unquotedString());
            } else if (part instanceof LogicalPlan) {
                checkTable((LogicalPlan) part);
            }
        }

        private void checkFunction(String name) {
            if (!functions.contains(name.toLowerCase(java.util.Locale.ROOT))) {
                throw refusal("the function " + name);
            }
        }

        /** A table's name holds at most its catalog and its schema: what stands before the last dot must be one of those. */
        private void checkTable(LogicalPlan plan) {
            Method names;
            try {
                names = plan.getClass().getMethod("multipartIdentifier", new Class[0]);
            } catch (NoSuchMethodException none) {
                return;
            }
            try {
                scala.collection.Seq parts = (scala.collection.Seq) names.invoke(plan, new Object[0]);
                String schema = ((scala.collection.Seq) parts.dropRight(1)).mkString(".");
                if (!schemas.contains(schema.toLowerCase(java.util.Locale.ROOT))) {
                    throw refusal("a table of the schema " + schema);
                }
            } catch (ReflectiveOperationException problem) {
                throw new IllegalStateException(problem);
            }
        }

        /** SET -v and SET of one of Spark SQL's names read; SET alone would show all of Spark's settings. */
        private void checkSetting(Option asked) {
            if (asked.isEmpty()) {
                throw refusal("SET without a name");
            }
            Tuple2 pair = (Tuple2) asked.get();
            String name = (String) pair._1();
            if (((Option) pair._2()).isDefined() || !(name.equals("-v") || name.startsWith("spark.sql."))) {
                throw refusal("SET of " + name);
            }
        }
    }

    /**
     * Names the version of each table that a statement reads, unless the statement names one. Spark calls this once it
     * has put common table expressions in place of their names, and before it looks up the names that are left.
     */
    static final class Pinned extends Rule {
        private final SparkSession session;

        Pinned(SparkSession session) {
            this.session = session;
        }

        public TreeNode apply(TreeNode plan) {
            final Map seen = versions;
            return plan.transformDown(new AbstractPartialFunction() {
                public boolean isDefinedAt(Object part) {
                    return part instanceof UnresolvedRelation && seen.containsKey(nameOf((UnresolvedRelation) part));
                }

                public Object applyOrElse(Object part, Function1 otherwise) {
                    if (!isDefinedAt(part)) {
                        return otherwise.apply(part);
                    }
                    Object version = seen.get(nameOf((UnresolvedRelation) part));
                    return new RelationTimeTravel((LogicalPlan) part, Option.empty(), Option.apply((String) version));
                }
            });
        }

        private String nameOf(UnresolvedRelation table) {
            scala.collection.Seq parts = table.multipartIdentifier();
            String schema = parts.size() > 1
                ? (String) parts.apply(parts.size() - 2)
                : String.join(".", session.sessionState().catalogManager().currentNamespace());
            return (schema + "." + parts.last()).toLowerCase(java.util.Locale.ROOT);
        }
    }

    /** What Spark understood. Delta's own plans, which read its logs, pass here too. */
    static final class Analyzed extends AbstractFunction1 {
        private final Set plans;
        private final Set files;

        Analyzed(Set plans, Set files) {
            this.plans = plans;
            this.files = files;
        }

        public Object apply(Object plan) {
            check((LogicalPlan) plan);
            return BoxedUnit.UNIT;
        }

        private void check(LogicalPlan plan) {
            if (!plans.contains(plan.getClass().getSimpleName())) {
                throw refusal(plan.getClass().getSimpleName());
            }
            if (plan instanceof LogicalRelation) {
                checkRelation(((LogicalRelation) plan).relation());
            }
            checkPlans(plan.children().iterator());
            checkPlans(plan.innerChildren().iterator());
            checkExpressions(plan.expressions().iterator());
        }

        private void checkRelation(Object relation) {
            String found = relation instanceof HadoopFsRelation
                ? ((HadoopFsRelation) relation).location().getClass().getSimpleName()
                : relation.getClass().getSimpleName();
            if (!files.contains(found)) {
                throw refusal("to read files by " + found);
            }
        }

        private void checkPlans(Iterator plans) {
            while (plans.hasNext()) {
                Object plan = plans.next();
                if (plan instanceof LogicalPlan) {
                    check((LogicalPlan) plan);
                }
            }
        }

        private void checkExpressions(Iterator expressions) {
            while (expressions.hasNext()) {
                Expression expression = (Expression) expressions.next();
                if (expression instanceof PlanExpression) {
                    check((LogicalPlan) ((PlanExpression) expression).plan());
                }
                checkExpressions(expression.children().iterator());
            }
        }
    }

    /**
     * Hive applies a client's settings as it opens the session: to itself, to Java, to a metastore. So they are checked
     * first. All else is left to Spark's own manager of sessions.
     */
    static final class Sessions extends SessionManager {
        private final SessionManager ofSpark;
        private final Set allowed;

        Sessions(HiveServer2 server, SessionManager ofSpark, Set allowed) {
            super(server);
            this.ofSpark = ofSpark;
            this.allowed = allowed;
        }

        public SessionHandle openSession(
                TProtocolVersion protocol, String user, String password, String address, Map settings,
                boolean impersonates, String token) throws HiveSQLException {
            Set others = new TreeSet(settings == null ? allowed : settings.keySet());
            others.removeAll(allowed);
            if (!others.isEmpty()) {
                throw refusal("a connection with the settings " + others);
            }
            return ofSpark.openSession(protocol, user, password, address, settings, impersonates, token);
        }

        public void closeSession(SessionHandle session) throws HiveSQLException {
            ofSpark.closeSession(session);
        }

        public HiveSession getSession(SessionHandle session) throws HiveSQLException {
            return ofSpark.getSession(session);
        }

        public OperationManager getOperationManager() {
            return ofSpark.getOperationManager();
        }
    }
}
